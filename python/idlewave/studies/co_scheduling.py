"""What co-scheduling takes away of the damage that noise does: detours at the same time on all ranks, on those of a
node, or on each rank at times of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..escaping import quote
from ..machine import Machine
from ..noise_models import AnyNoise, Noise
from ..noise_presets import SAME, chosen_noises
from ..random_noise import MixedNoise
from ..schedule import Schedule
from ..simulation import simulate
from .case_study import CaseStudy, Row
from .programs import GENERATED, ProgramSettings, programs_at
from .simulated_case import SimulatedCase, checked_seeds
from .stopping import check_stop

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

NODE_RANKS = 16
"""Ranks of a node of a machine that does not say how many there are."""
ALL = 2**32 - 1
"""So many ranks together are all there are."""
_RANDOM = "expected noise that is recorded or regular: random detours are those of one rank, or of all at the same time"


@dataclass(frozen=True)
class CoSchedulingCase(SimulatedCase):
    """A simulation under `noise` (""; none), of which `together` neighbouring ranks have the same detours at the same
    time, but for up to `skew_ns` earlier or later."""

    noise: str
    together: int
    skew_ns: int


def co_scheduling_cases(
    machine: Machine,
    programs: Sequence[str | Schedule] = GENERATED,
    ranks: Sequence[int] | None = None,
    settings: ProgramSettings | None = None,
    noise: Sequence[str] | None = None,
    together: Sequence[int] | None = None,
    skews_ns: Sequence[int] = (0,),
    seeds: int | Sequence[int] = 8,
) -> list[CoSchedulingCase]:
    """A case without noise for each program and number of ranks, and one for each noise, number of ranks `together`
    (None: one, those of a node, and all), skew and seed. Raises UsageError."""
    noises = chosen_noises(noise, machine)
    if same := next((word for word in noises if word.endswith(f":{SAME}")), None):
        raise UsageError(f"expected noises without :{SAME}, since the study co-schedules them, found {quote(same)}")
    quiet = machine.with_noise(None)
    noisy = {word: quiet.with_noise(_of_phase(found, "random")) for word, found in noises.items()}
    numbers = checked_seeds(seeds)
    _check(together, skews_ns, [found for found in noises.values() if not isinstance(found, Noise)])
    found = []
    for program in programs_at(programs, ranks, settings, machine):
        count = program.ranks
        found.append(CoSchedulingCase(program, quiet, count, 0, "", 1, 0))
        for word, on in noisy.items():
            for group in _groups(together, on, count):
                for skew in skews_ns if group > 1 else (0,):
                    found += [CoSchedulingCase(program, on, count, seed, word, group, skew) for seed in numbers]
    return found


def co_scheduling_row(case: CoSchedulingCase) -> Row:
    """When the last rank finishes, ps, the number of messages, and `overhead`, the share of a CPU's time that detours
    take."""
    machine = case.machine if case.noise == "" else co_scheduled(case)
    timeline = simulate(case.program, machine, seed=case.seed, progress=check_stop)
    overhead = 0.0 if machine.noise is None else machine.noise.overhead
    return {"finish_ps": int(timeline.max_finish), "messages": int(timeline.messages), "overhead": float(overhead)}


def co_scheduled(case: CoSchedulingCase) -> Machine:
    """The machine whose noise begins at the times of the case.

    Where one rank or all are together, the simulator draws the phases, as it does in other simulations with that seed;
    else, and with a skew, they are drawn here. Random noise has only those two. Raises UsageError.
    """
    import numpy as np

    noise = case.machine.noise
    if noise is None:
        raise UsageError("expected a machine with noise")
    if case.together == 1 or (case.together >= case.ranks and not case.skew_ns):
        return case.machine.with_noise(_of_phase(noise, "random" if case.together == 1 else "same"))
    if not isinstance(noise, Noise):
        raise UsageError(_RANDOM)
    rng = np.random.default_rng([case.seed, case.together, case.skew_ns])
    groups = -(-case.ranks // case.together)
    phases = np.repeat(rng.integers(0, noise.period, groups), case.together)[: case.ranks]
    phases = phases + rng.integers(-1000 * case.skew_ns, 1000 * case.skew_ns + 1, case.ranks)
    return case.machine.with_noise(replace(noise, phase=tuple((phases % noise.period).tolist())))


def _of_phase(noise: AnyNoise, phase: str) -> AnyNoise:
    if isinstance(noise, MixedNoise):
        random = tuple(replace(source, phase=phase) for source in noise.random)
        return MixedNoise(replace(noise.trace, phase=phase), random)
    return replace(noise, phase=phase)


def _groups(together: Sequence[int] | None, machine: Machine, ranks: int) -> list[int]:
    """The numbers of ranks together: those asked for, each at most all."""
    if together is None:
        node = machine.node_ranks if machine.node_ranks > 1 else NODE_RANKS
        together = (1, node, ALL) if isinstance(machine.noise, Noise) else (1, ALL)
    found = sorted({min(group, ranks) for group in together})
    if not isinstance(machine.noise, Noise) and not {*found} <= {1, ranks}:
        raise UsageError(_RANDOM)
    return found


def _check(together: Sequence[int] | None, skews_ns: Sequence[int], random: Sequence[AnyNoise]) -> None:
    """Raise UsageError for numbers that are none, and for skews that have no meaning; `random` noise has none."""
    if together is not None and (not together or min(together) < 1):
        raise UsageError(f"expected numbers of ranks together from 1 on, found {list(together)}")
    if not skews_ns or min(skews_ns) < 0 or max(skews_ns) > 10**9:
        raise UsageError(f"expected skews from 0 to 10^9 ns, found {list(skews_ns)}")
    if max(skews_ns) > 0 and random:
        raise UsageError(f"{_RANDOM}; it has no skews")
    if max(skews_ns) > 0 and together is not None and max(together) == 1:
        raise UsageError("expected ranks together, of which detours have a skew: a rank for itself has none")


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.co_scheduling_page import co_scheduling_page

    return co_scheduling_page(table)


CO_SCHEDULING = CaseStudy("co-scheduling", 1, co_scheduling_row, _page)
"""The study: its table has the columns of `CoSchedulingCase`, and those of `co_scheduling_row`."""
