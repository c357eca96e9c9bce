"""Recordings of a core that another task uses, too, with or without an injected source: the truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from idlewave.measure.noise.noise_recording import Detours
from idlewave.measure.noise.signature import queued

TICK_S = 0.004
COMPETITORS = ("poisson", "ticks", "turns", "bursts")


@dataclass(frozen=True)
class Injected:
    """A source of detours of `length_s`, `frequency` times a second; its detours are longer by `bias_s`."""

    frequency: float
    length_s: float
    bias_s: float = 2e-5


def random_injected(draw: np.random.Generator) -> Injected:
    """A period from 2 to 80 ms, and a length from 30 us to 2 ms, at most a fifth of the period."""
    period = 10 ** draw.uniform(np.log10(2e-3), np.log10(8e-2))
    length = min(10 ** draw.uniform(np.log10(3e-5), np.log10(2e-3)), period / 5)
    return Injected(1 / period, length)


def competing_core(
    kind: str, load: float, injected: Injected | None = None, *, seed: int, seconds: float = 10.0
) -> Detours:
    """A core of which a competing task of a kind of COMPETITORS takes the share `load`, beside the machine's own noise.

    After an injected event the scheduler may go on with the competing task, so that both are one detour.
    """
    draw = np.random.default_rng(seed)
    turns = _COMPETING[kind](draw, load, seconds) if load else np.empty((0, 2))
    parts = [turns, _machine(draw, seconds)]
    if injected is not None:
        when = np.arange(draw.random() / injected.frequency, seconds, 1 / injected.frequency)
        when += np.abs(draw.normal(0, 2e-6, len(when)))
        lengths = injected.length_s + injected.bias_s * draw.uniform(0.9, 1.1, len(when))
        parts.append(np.column_stack([when, lengths]))
        followed = draw.random(len(when)) < load / 2
        parts.append(np.column_stack([when + lengths, draw.exponential(2e-3, len(when))])[followed])
    whole = np.concatenate(parts)
    duration = round(seconds * 1e12)
    arrivals = np.clip(whole[:, 0] * 1e12, 0, duration - 1)
    starts, taken = queued(arrivals, whole[:, 1] * 1e12, duration)
    foreign = float(taken[taken > 2.5e7].sum() / duration)
    return Detours("here", 0, starts, taken, duration, foreign)


def _machine(draw: np.random.Generator, seconds: float) -> np.ndarray:
    """Short detours at random, as each machine has."""
    count = draw.poisson(300 * seconds)
    return np.column_stack([draw.random(count) * seconds, 1e-7 + draw.exponential(2e-6, count)])


def _poisson(draw: np.random.Generator, load: float, seconds: float) -> np.ndarray:
    """Work of exponential lengths at random times."""
    mean = 10 ** draw.uniform(-3.5, -2)
    count = draw.poisson(load * seconds / mean)
    return np.column_stack([draw.random(count) * seconds, draw.exponential(mean, count)])


def _ticks(draw: np.random.Generator, load: float, seconds: float) -> np.ndarray:
    """Work of whole ticks, and pauses of whole ticks."""
    rows, t = [], draw.random() * TICK_S
    while t < seconds:
        turn = TICK_S * int(draw.integers(1, 5))
        rows.append((t, turn * (1 + draw.normal(0, 0.001))))
        t += turn + TICK_S * max(1, round(turn / TICK_S * (1 - load) / load * draw.uniform(0.5, 1.5)))
    return np.array(rows)


def _turns(draw: np.random.Generator, load: float, seconds: float) -> np.ndarray:
    """A task that works and sleeps for random times; while it works, the scheduler gives turns of a tick to both.

    It begins at any time, when it wakes, and is interrupted at ticks; of a load above a third it gets two ticks of
    three.
    """
    rows, t = [], draw.random() * 0.1
    own = 2 if load > 1 / 3 else 1
    while t < seconds:
        left = draw.exponential(0.04)
        asleep = left * (1 / load - (1 + 1 / own))
        while left > 0 and t < seconds:
            until_tick = (np.floor(t / TICK_S) + own) * TICK_S - t
            turn = min(left, max(until_tick, 1e-5))
            rows.append((t, turn))
            left -= turn
            t += turn + (TICK_S if left > 0 else 0)
        t += draw.exponential(max(asleep, 1e-3))
    return np.array(rows)


def _bursts(draw: np.random.Generator, load: float, seconds: float) -> np.ndarray:
    """Bursts of short detours, as of a network's interrupts."""
    rows, t = [], 0.0
    while t < seconds:
        count = int(draw.geometric(0.05))
        lengths = draw.uniform(2e-5, 2e-4, count)
        gaps = draw.exponential(2e-4, count)
        begins = t + np.cumsum(lengths + gaps) - lengths
        rows.append(np.column_stack([begins, lengths]))
        busy = float(lengths.sum())
        t = float(begins[-1] + lengths[-1]) + draw.exponential(max(busy / load - busy - float(gaps.sum()), 1e-3))
    whole = np.concatenate(rows)
    return whole[whole[:, 0] < seconds]


_COMPETING = {"poisson": _poisson, "ticks": _ticks, "turns": _turns, "bursts": _bursts}
