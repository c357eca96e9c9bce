"""The emulated transport of the estimator's tests takes what the simulator says that it takes."""

from __future__ import annotations

import idlewave
import numpy as np
import pytest
from emulated_samples import as_toml, exchange_as_goal
from idlewave.measure import Network, Parameters, prtt


@pytest.mark.parametrize("seed", range(60))
def test_the_simulator_gives_the_same_prtt_to_the_picosecond(seed):
    random = np.random.default_rng(seed)

    def some():
        return Parameters(*(float(random.integers(1, high)) for high in (6000, 3000, 3000, 6000, 5, 5)))

    threshold = [None, 10, 100][seed % 3]
    network = Network(((1, some()), (int(random.choice([11, 50, 101])), some())), threshold)
    size = int(random.choice([1, 5, 11, 40, 101, 600, 2000]))
    messages, delay_ns = int(random.integers(1, 7)), int(random.choice([0, 1, 40]))
    machine = idlewave.Machine.from_toml(as_toml(network))
    schedule = idlewave.Schedule.from_goal(exchange_as_goal(messages, delay_ns, size))
    finish = idlewave.simulate(schedule, machine).finish
    assert prtt(network, messages, delay_ns * 1000.0, size) == finish[0]
