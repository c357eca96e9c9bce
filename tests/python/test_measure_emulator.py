"""An emulated transport: samples as the probe would write them on a machine that follows the rules exactly.

Truth for the estimator's tests. That it is the simulator's own idea of a PRTT is the claim tested here.
"""

from __future__ import annotations

import idlewave
import numpy as np
import pandas as pd
import pytest
from idlewave.measure import Network, Parameters, prtt

US = 1_000_000.0
TRAIN = 16


def parameters(L, o_s, o_r, g, G, O=0.0):  # noqa: E741
    """All in µs, G and O in µs per byte, as the published tables have them."""
    return Parameters(L * US, o_s * US, o_r * US, g * US, G * US, O * US)


def sizes_for(network, top=262_144):
    sizes = set()
    power = 1
    while power <= top:
        sizes |= {power, power + power // 2}
        if power <= 16_384:
            sizes |= {power - 1, power + 1, power + power // 4}
        power *= 2
    for limit in [network.S] if network.S else []:
        sizes |= {limit - below + more for below in range(0, 97, 8) for more in (0, 1)}
    sizes |= {first - before for first, _ in network.ranges for before in (0, 1)}
    return sorted(s for s in sizes if 1 <= s <= top)


def emulate(network, seed, repetitions=30, scatter=0.0002, hits=0.03):
    """Samples of `network`: times scatter by so much of themselves, a few are hit by a detour of ~20 µs."""
    random = np.random.default_rng(seed)
    tables = []
    for size in sizes_for(network):
        own = network.of(size)
        pause = prtt(network, 2, 0.0, size)
        waited = (TRAIN - 1) * pause
        exact = {
            "rtt": prtt(network, 1, 0.0, size),
            "train": prtt(network, TRAIN, 0.0, size),
            "paced": prtt(network, TRAIN, pause, size) - waited,
            "wait": own.o_r + (size - 1) * own.O,
        }
        for series, value in exact.items():
            values = value * (1 + scatter * random.standard_normal(repetitions))
            values += (random.random(repetitions) < hits) * random.exponential(20 * US, repetitions)
            paced = series == "paced"
            tables.append(
                pd.DataFrame(
                    {
                        "series": series,
                        "size": size,
                        "n": TRAIN if series in ("train", "paced") else 1,
                        "delay_ns": pause / 1000 if paced else 0.0,
                        "repetition": np.arange(repetitions),
                        "value_ns": (values + (waited if paced else 0.0)) / 1000,
                    }
                )
            )
    return pd.concat(tables, ignore_index=True)


def exchange_as_goal(messages, delay_ns, size):
    """PRTT(messages, delay, size) as a schedule of two ranks."""
    client, server = [], []
    for i in range(messages):
        client.append(f"s{i}: send {size}b to 1")
        server.append(f"r{i}: recv {size}b from 0")
        if i > 0:
            client.append(f"s{i} requires {'c' if delay_ns else 's'}{i - 1}")
            server.append(f"r{i} requires r{i - 1}")
        if delay_ns and i < messages - 1:
            client += [f"c{i}: calc {delay_ns}", f"c{i} requires s{i}"]
    client += [f"a: recv {size}b from 1", f"a requires s{messages - 1}"]
    server += [f"a: send {size}b to 0", f"a requires r{messages - 1}"]
    ranks = ["\n".join(lines) for lines in (client, server)]
    return "num_ranks 2\n" + "".join(f"rank {r} {{\n{ops}\n}}\n" for r, ops in enumerate(ranks))


def as_toml(network):
    def lines(p):
        times = [f'{name} = "{int(getattr(p, name))}ps"' for name in ("L", "o_s", "o_r", "g", "G", "O")]
        return "\n".join(times)

    text = f"[network]\n{lines(network.ranges[0][1])}\n"
    text += f"S = {network.S if network.S is not None else chr(34) + 'inf' + chr(34)}\n"
    for first, p in network.ranges[1:]:
        text += f"[[network.segment]]\nfrom = {first}\n{lines(p)}\n"
    return text


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
