"""The emulated transport of the estimator's tests takes what the simulator says that it takes."""

from __future__ import annotations

import idlewave
import numpy as np
import pytest
from emulated_samples import as_toml, exchange_as_goal
from idlewave.measure import FittedParameters, Network
from idlewave.measure.network.fitting.prediction import Exchange, prtts
from prtt_rules import prtt


@pytest.mark.parametrize("seed", range(60))
def test_the_simulator_gives_the_same_prtt_to_the_picosecond(seed):
    random = np.random.default_rng(seed)

    def some():
        return FittedParameters(*(float(random.integers(1, high)) for high in (6000, 3000, 3000, 6000, 5, 5)))

    threshold = [None, 10, 100][seed % 3]
    network = Network(((1, some()), (int(random.choice([11, 50, 101])), some())), threshold)
    size = int(random.choice([1, 5, 11, 40, 101, 600, 2000]))
    messages, delay_ns = int(random.integers(1, 7)), int(random.choice([0, 1, 40]))
    machine = idlewave.Machine.from_toml(as_toml(network))
    schedule = idlewave.Schedule.from_goal(exchange_as_goal(messages, delay_ns, size))
    finish = idlewave.simulate(schedule, machine).finish
    assert prtt(network, messages, delay_ns * 1000.0, size) == finish[0]


@pytest.mark.parametrize("seed", range(60))
def test_a_prediction_is_the_rules_prtt_with_fractions_of_picoseconds(seed):
    """The simulator rounds each of some forty times of a message to a thousandth of a picosecond."""
    random = np.random.default_rng(5000 + seed)
    values = random.uniform(0.2, 1, 6) * (6e6, 3e6, 3e6, 6e6, 5e3, 5e3)
    first, second = FittedParameters(*values), FittedParameters(*(values * random.uniform(0.5, 2, 6)))
    network = Network(((1, first), (1025, second)), [None, 512, 4096][seed % 3])
    asked = [
        Exchange(n, delay, size)
        for n in (1, 2, 16)
        for delay in (0.0, 12_345_679.0)
        for size in (0, 1, 100, 512, 513, 1025, 65_536)
    ]
    expected = [prtt(network, *one) for one in asked]
    assert prtts(network, asked) == pytest.approx(expected, abs=0.1, rel=1e-12)
