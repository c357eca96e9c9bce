"""An emulated transport: samples as the probe would write them on a machine that follows the rules exactly.

Truth for the estimator's tests. test_measure_emulator.py claims that it is the simulator's own idea of a PRTT.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from idlewave.measure import FittedParameters
from prtt_rules import Rank, eager_train, prtt, rendezvous_train

US = 1_000_000.0
TRAIN = 16


def parameters(L, o_s, o_r, g, G, O=0.0):  # noqa: E741
    """All in µs, G and O in µs per byte, as the published tables have them."""
    return FittedParameters(L * US, o_s * US, o_r * US, g * US, G * US, O * US)


def sizes_for(network, top=262_144):
    """As the probe chooses them: dense around powers of two, and around each switch bisected to the byte."""
    sizes = set()
    power = 1
    while power <= top:
        sizes |= {power, power + power // 2}
        if power <= 16_384:
            sizes |= {power - 1, power + 1, power + power // 4}
        power *= 2
    sizes = {s for s in sizes if 1 <= s <= top}
    for last in switches_of(network):
        if not 1 <= last < top:
            continue
        below, above = max(s for s in sizes if s <= last), min(s for s in sizes if s > last)
        while above - below > 1:
            middle = (below + above) // 2
            sizes.add(middle)
            below, above = (middle, above) if middle <= last else (below, middle)
    return sorted(sizes)


def switches_of(network):
    """The last sizes before something changes."""
    return sorted({first - 1 for first, _ in network.ranges[1:]} | ({network.S} if network.S else set()))


def emulate(network, seed, repetitions=30, scatter=0.0002, hits=0.03, new_series=False):
    """Samples of `network`: times scatter by so much of themselves, a few are hit by a detour of ~20 µs."""
    random = np.random.default_rng(seed)
    sizes = sizes_for(network)
    exact = [sample for size in sizes for sample in exchanges(network, size)]
    if new_series:
        exact += [(*sample, 0.0) for size in sizes for sample in late_sends(network, size)]
        exact += [
            sample for size in (s for s in sizes if s & (s - 1) == 0) for sample in earlier_methods(network, size)
        ]
        exact += [("rtt", 0, 1, 0.0, prtt(network, 1, 0.0, 0), 0.0), ("flood", 0, *flood(network, 0), 0.0)]
    series, size, n, delay, value, waited = (np.repeat(column, repetitions) for column in zip(*exact, strict=True))
    values = value * (1 + scatter * random.standard_normal(len(value)))
    values += (random.random(len(value)) < hits) * random.exponential(20 * US, len(value))
    return pd.DataFrame(
        {
            "series": series,
            "size": size,
            "n": n,
            "delay_ns": delay / 1000,
            "repetition": np.tile(np.arange(repetitions), len(exact)),
            "value_ns": (values + waited) / 1000,
        }
    )


def exchanges(network, size):
    """series, size, n, delay, what it takes without the waiting, the waiting; ps."""
    own = network.of(size)
    pause = prtt(network, 2, 0.0, size)
    waited = (TRAIN - 1) * pause
    return [
        ("rtt", size, 1, 0.0, prtt(network, 1, 0.0, size), 0.0),
        ("train", size, TRAIN, 0.0, prtt(network, TRAIN, 0.0, size), 0.0),
        ("paced", size, TRAIN, pause, prtt(network, TRAIN, pause, size) - waited, waited),
        ("wait", size, 1, 0.0, own.o_r + (size - 1) * own.O, 0.0),
    ]


def sending(network, messages, size, late=0.0):
    """How long so many blocking send calls last, one after the other, in ps; the receives are posted from `late` on."""
    client, server = Rank(), Rank()
    rendezvous = network.S is not None and size > network.S
    train = rendezvous_train if rendezvous else eager_train
    train(network, client, server, messages, 0.0, size, 0.0, late)
    return client.cpu


def late_sends(network, size):
    delay = 4 * prtt(network, 1, 0.0, size)
    return [("late", size, 1, delay, sending(network, 1, size, late=delay))]


def flood(network, size):
    return 64, 0.0, prtt(network, 64, 0.0, size)


def earlier_methods(network, size):
    """The series of Culler and Iannello, Kielmann, Bell."""
    own, k = network.of(size), max(size - 1, 0)
    send, pause = sending(network, 1, size), 3 * prtt(network, 1, 0.0, size)
    gap = (prtt(network, 64, 0.0, size) - prtt(network, 1, 0.0, size)) / 63
    answer = own.o_r + k * max(own.O, own.G)
    found = [
        ("send", size, 1, 0.0, send, 0.0),
        ("few", size, 4, 0.0, sending(network, 4, size), 0.0),
        ("delayed", size, 1, pause, send + answer, pause),
        ("flood", size, *flood(network, size), 0.0),
        ("recv", size, 1, 0.0, answer, 0.0),
    ]
    for part in (0, 0.25, 0.5, 0.75, 1, 1.5, 2):
        waited = 15 * part * gap
        found.append(("spaced", size, 16, part * gap, prtt(network, 16, part * gap, size) - waited, waited))
    return found


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
