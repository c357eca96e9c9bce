"""What noise costs collectives and applications from few ranks to a million: docs/studies/noise.md.

Each case is a program on a number of ranks with one noise. It is simulated without noise once, and with many seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..jobs import Job, Operation
from ..machine import Level, Machine, Parameters
from ..noise_models import REACHES
from ..noise_presets import OWN, chosen_noises, noise_named
from ..pattern_options import PatternOptions
from ..schedule import Schedule
from .case_study import CaseStudy, Row
from .programs import APPLICATIONS, Program, collective, own_program, program_named
from .seed_statistics import QUANTILES, check_seeds, finish_times, mean_interval

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

MACHINE = "odin"
RANKS = (64, 512, 4096, 32768)
APPLICATION_RANKS = 4096
"""Applications are simulated up to so many ranks: each of their iterations has many messages."""
PROGRAMS = ("dissemination", "solver", "halo2d")
SIZES = (1, 1 << 20)
NOISES = ("chic", "altix", "altix:same", "zeptoos", "jaguar", "1000Hz:100us")
SEEDS = 10
BECKMAN_MACHINE, BECKMAN_RANKS = "bluegene-p", 32_768
"""The talk: a Blue Gene/L, 32k processes, simulated with parameters of a Blue Gene/P."""
FERREIRA_MACHINE, FERREIRA_RANKS = "odin", 8192
"""A Cray XT, whose parameters are in no source at hand; nor is the number of processes."""
NETWORK_NOISES, NETWORK_SPEEDS = ("chic", "jaguar"), (0.1, 1.0, 10.0)
PUBLISHED_SEEDS = 5
BECKMAN_NOISES = tuple(f"{hertz}Hz:{length}us" for hertz in (1000, 100, 10) for length in (16, 50, 100, 200))
FERREIRA_NOISES = ("10Hz:2.5ms",)
PUBLISHED_ALGORITHMS = ("allreduce=recursive_doubling", "allreduce=reduce_bcast")
"""The algorithm of the published experiments is not known: these are the two simplest."""
_REPEATED = 3


@dataclass(frozen=True)
class NoiseCase:
    """A program on a machine with one noise, simulated with `seeds` seeds from `seed` on.

    `steps`: how many equal steps it consists of; `collective`: these are operations without computation between them.
    `asks`: which question of the study it belongs to. `network`: how many times as fast as the machine's its network
    is.
    """

    machine: Machine
    schedule: Schedule
    asks: str
    program: str
    bytes: int
    ranks: int
    steps: int
    collective: bool
    network: float
    noise: str
    seeds: int
    seed: int


@dataclass(frozen=True)
class NoisePlan:
    """What a study of noise simulates.

    `programs` are collectives (COLLECTIVE or COLLECTIVE=ALGORITHM), of each of the `sizes`, and applications; `own` is
    one's own program. `noise` are names as of `noise_named`; None: that of the machine, if it has some, and NOISES.
    Applications are left out above `application_ranks`. `published`: the published experiments, too: regular
    noise, and faster and slower networks.
    """

    machine: Machine
    programs: Sequence[str] = PROGRAMS
    own: Schedule | None = None
    noise: Sequence[str] | None = None
    ranks: Sequence[int] = RANKS
    sizes: Sequence[int] = SIZES
    operations: int = 1
    application_ranks: int = APPLICATION_RANKS
    seeds: int = SEEDS
    seed: int = 0
    published: bool = True

    def __post_init__(self) -> None:
        check_seeds(self.seeds, self.seed)
        if not self.ranks:
            raise UsageError("expected numbers of ranks, found none")
        if min(self.ranks) < 2:
            raise UsageError(f"expected a number of ranks from 2 on, found {min(self.ranks)}")
        if not self.sizes:
            raise UsageError("expected sizes of collectives, found none")


def noise_cases(plan: NoisePlan) -> list[NoiseCase]:
    """The cases of a plan, those of few ranks first. Raises UsageError."""
    names = (*([] if plan.machine.noise is None else [OWN]), *NOISES) if plan.noise is None else plan.noise
    noises = chosen_noises(names, plan.machine)
    machines = {name: plan.machine.with_noise(noise) for name, noise in noises.items()}
    found = [
        _case(machine, program, "scale", name, plan.seeds, plan.seed)
        for program in _programs(plan)
        for name, machine in machines.items()
    ]
    if not found:
        raise UsageError("expected a program to simulate, found none")
    return [*found, *network_cases(plan), *published_cases(plan.seed)] if plan.published else found


def network_cases(plan: NoisePlan) -> list[NoiseCase]:
    """A dissemination of a byte on the most ranks with noise of two systems, on networks ten times as slow and fast."""
    ranks = max(plan.ranks)
    program = collective("dissemination", ranks, 1)
    return [
        _case(
            faster_network(plan.machine, speed).with_noise(noise_named(name)), program, "network", name, plan.seeds,
            plan.seed, speed,
        )
        for name in NETWORK_NOISES
        for speed in NETWORK_SPEEDS
    ]  # fmt: skip


def faster_network(machine: Machine, speed: float) -> Machine:
    """The machine with L, g and G of its networks divided by `speed`."""

    def parameters(found: Parameters) -> Parameters:
        return replace(found, L=round(found.L / speed), g=round(found.g / speed), G=found.G / speed)

    def level(found: Level | None) -> Level | None:
        if found is None:
            return None
        segments = tuple(replace(segment, parameters=parameters(segment.parameters)) for segment in found.segments)
        return replace(found, parameters=parameters(found.parameters), segments=segments)

    network = level(machine.network)
    if speed == 1 or network is None:
        return machine
    return replace(machine, network=network, node=level(machine.node), shared_buffer=level(machine.shared_buffer))


def published_cases(seed: int = 0, ranks: int = BECKMAN_RANKS) -> list[NoiseCase]:
    """Allreduces in a loop, under regular noise as Beckman et al. and Ferreira et al. injected it, on at most `ranks`
    ranks."""
    found = []
    for name, most, noises in (
        (BECKMAN_MACHINE, BECKMAN_RANKS, BECKMAN_NOISES),
        (FERREIRA_MACHINE, FERREIRA_RANKS, FERREIRA_NOISES),
    ):
        machine = Machine.preset(name)
        programs = [collective(algorithm, min(ranks, most), 8, _REPEATED) for algorithm in PUBLISHED_ALGORITHMS]
        for noise in noises:
            noisy = machine.with_noise(noise_named(noise))
            found += [_case(noisy, program, "published", noise, PUBLISHED_SEEDS, seed) for program in programs]
    return found


def _programs(plan: NoisePlan) -> Iterator[Program]:
    rules = plan.machine.algorithm_rules
    for count in sorted(plan.ranks):
        for name in plan.programs:
            if name in APPLICATIONS and count > plan.application_ranks:
                continue
            probe = program_named(name, count, plan.sizes[0], plan.operations, rules)
            yield probe
            if probe.is_collective:
                yield from (collective(name, count, size, plan.operations, rules) for size in plan.sizes[1:])
        if plan.own is not None:
            yield own_program(plan.own, count)


def _case(
    machine: Machine, program: Program, asks: str, noise: str, seeds: int, seed: int, network: float = 1.0
) -> NoiseCase:
    of_program = (asks, program.name, program.bytes, program.ranks, program.steps, program.is_collective)
    return NoiseCase(machine, program.schedule, *of_program, network, noise, seeds, seed)


def noise_row(case: NoiseCase) -> Row:
    """What the noise costs: the time without it, ps; the mean slowdown with its interval, and quantiles of it.

    `overhead` is the share of time that the detours take. `worst_ps` is the expected worst loss: what the slowest of as
    many ranks loses in a step, in the mean over the same seeds, if each computes as long as the step takes, times the
    steps. So much is lost if every step waits for the slowest rank once.
    """
    noise = case.machine.noise
    quiet = int(finish_times(case.schedule, case.machine.with_noise(None), 1)[0])
    lost = finish_times(case.schedule, case.machine, case.seeds, case.seed) - quiet
    slowdown = (lost / quiet if quiet else lost * math.nan).astype(float)
    found = mean_interval(slowdown)
    return {
        "overhead": None if noise is None else float(noise.overhead),
        "quiet_ps": quiet,
        "worst_ps": _worst(case, quiet),
        "lost_ps": float(lost.mean()),
        "slowdown": found.mean,
        "low": found.low,
        "high": found.high,
        **{name: float(value) for name, value in zip(QUANTILES, _quantiles(slowdown), strict=True)},
    }


def _quantiles(values: object) -> Sequence[float]:
    import numpy as np

    return [float(value) for value in np.quantile(values, list(QUANTILES.values()))]  # type: ignore[call-overload]


def _worst(case: NoiseCase, quiet: int) -> float:
    nanoseconds = -(-quiet // (1000 * case.steps))
    computing = Operation("compute", options=PatternOptions(compute_ns=nanoseconds))
    schedule = Schedule.compose([Job(case.ranks, [computing])])
    everywhere = case.machine.with_noise_reaches(REACHES)
    return case.steps * float((finish_times(schedule, everywhere, case.seeds, case.seed) - 1000 * nanoseconds).mean())


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.noise_page import noise_page

    return noise_page(table)


NOISE = CaseStudy("noise", 2, noise_row, _page)
"""The study: its table has the columns of `NoiseCase`, and those of `noise_row`."""
