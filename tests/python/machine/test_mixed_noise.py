"""A mixture: what the clock brings, and what comes at random between, as machine.toml has it and as it is simulated."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from idlewave import FixedLength, InputError, Machine, MixedNoise, Noise, PoissonNoise, Schedule, simulate

NETWORK = '[network]\nL = "1us"\no = "1us"\ng = "1us"\nG = "1ns"\nO = "0ns"\nS = "inf"\n'
TICK = '[[noise.source]]\nkind = "periodic"\nperiod = "1ms"\nlength = "100us"\n'
DAEMON = '[[noise.source]]\nkind = "poisson"\nrate = 100\nlength = "250us"\n'
LONG = (
    '[[noise.source]]\nkind = "poisson"\ninterval = "1s"\n'
    'length = { distribution = "pareto", min = "1ms", alpha = 3 }\n'
)


def machine(sources: str, head: str = "", folder: Path | None = None) -> Machine:
    return Machine.from_toml(f'{NETWORK}[noise]\nkind = "mixture"\n{head}{sources}', name="m.toml", folder=folder)


def computing(ranks: int, nanoseconds: int) -> Schedule:
    bodies = "".join(f"rank {r} {{\na: calc {nanoseconds}\n}}\n" for r in range(ranks))
    return Schedule.from_goal(f"num_ranks {ranks}\n{bodies}")


def test_a_machine_has_one_source_by_the_clock_and_any_number_at_random() -> None:
    noise = machine(TICK + DAEMON + LONG).noise
    assert isinstance(noise, MixedNoise)
    assert (noise.trace.period, noise.trace.lengths.tolist()) == (10**9, [10**8])
    assert [source.interval for source in noise.random] == [1e10, 1e12]
    assert noise.random[0].length == FixedLength(250_000_000)
    assert noise.overhead == pytest.approx(1 - 0.9 / (1 + 0.025 + 0.0015))


def test_what_has_no_random_source_is_a_trace(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("start_ns,length_ns\n5,7\n")
    source = '[[noise.source]]\nkind = "trace"\nfile = "n.csv"\nperiod = "1us"\n'
    noise = machine(source, 'phase = "same"\n', tmp_path).noise
    assert isinstance(noise, Noise)
    assert (noise.phase, noise.starts.tolist()) == ("same", [5000])


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ("", r"noise.source: expected tables \[\[noise.source\]\], found nothing"),
        (TICK + TICK + DAEMON, "noise.source: expected at most one trace or periodic source"),
        ('[[noise.source]]\nkind = "none"\n', r"noise.source\[0\].kind: expected one of trace, periodic, poisson"),
        (TICK + DAEMON + 'phase = "same"\n', r"noise.source\[1\].phase is not known here"),
        (TICK + '[[noise.source]]\nkind = "poisson"\nrate = 1\n', r"noise.source\[1\].length: expected a time"),
        (
            '[[noise.source]]\nkind = "poisson"\nrate = 0\nlength = "1us"\n',
            r"noise.source\[0\].rate: expected a number",
        ),
        ('[[noise.source]]\nkind = "periodic"\nperiod = "1us"\n', r"noise.source\[0\].length: expected a time"),
    ],
)
def test_what_is_wrong_with_a_mixture_is_named(sources: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        machine(sources)


def test_a_mixture_has_one_phase() -> None:
    with pytest.raises(InputError, match=r"noise.phase: expected random or same, found \['1ms'\]"):
        machine(TICK + DAEMON, 'phase = ["1ms"]\n')
    with pytest.raises(InputError, match="all of one phase"):
        Machine.from_toml(NETWORK).with_noise(
            MixedNoise(
                Noise(np.array([0]), np.array([1]), 10**6),
                (PoissonNoise(1e9, FixedLength(1)), PoissonNoise(1e9, FixedLength(1), "same")),
            )
        ).core()


def test_long_work_takes_the_share_that_both_kinds_leave() -> None:
    work = 200 * 10**12
    schedule = computing(8, work // 1000)
    finish = simulate(schedule, machine(TICK + DAEMON), seed=3).finish
    expected = work * 1.025 / 0.9
    spread = math.sqrt(work / 1e10) * 250e6 / 0.9
    assert np.all(np.abs(finish - expected) < 5 * spread)
    assert len(set(finish.tolist())) == 8


def test_every_scheduler_and_seed_gives_its_own_answer_always() -> None:
    noisy = machine(TICK + DAEMON + LONG)
    schedule = Schedule.pattern("sweep", ranks=36, bytes=1000, compute_ns=300_000, sweeps=4, blocks=10)
    ways = [{}, {"scheduler": "yawns", "threads": 2}, {"scheduler": "timewarp", "threads": 2}]
    runs = [[simulate(schedule, noisy, seed=seed, **way).finish.tolist() for way in ways] for seed in (1, 2)]
    assert runs[0][0] == runs[0][1] == runs[0][2]
    assert runs[1][0] == runs[1][1] == runs[1][2]
    assert runs[0][0] != runs[1][0]


def test_all_ranks_have_the_same_detours_where_the_phase_is_the_same() -> None:
    schedule = computing(3, 50_000_000)
    finish = simulate(schedule, machine(TICK + DAEMON, 'phase = "same"\n')).finish.tolist()
    assert finish[0] == finish[1] == finish[2] > 50_000_000_000
