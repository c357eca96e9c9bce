"""The study: its cases, and the row of each. docs/studies/verify.md says what each case is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ...errors import UsageError
from ...formatting import unknown_name
from ...machine import Machine
from ...noise_models import REACHES, AnyNoise, Noise, as_times
from ...noise_presets import noise_preset, regular_noise
from ...schedule import Schedule
from ...simulation import simulate
from ..case_study import CaseStudy, Row
from ..stopping import check_stop
from .closed_forms import FORMS, OF_MANY_RANKS, closed_form
from .pairs import ARRANGEMENTS, DELAYS_PS, PLACES, SHIFTS_PS, delayed_pair, shifted_pair
from .programs import ALGORITHMS, allreduces, amg, cray_xt, pop

if TYPE_CHECKING:
    import pandas as pd

    from ...report.study_page import StudyPage
    from ...timeline import Timeline

CHECKS = ("form", "delay", "post", "beckman", "ferreira", "pop", "amg")
"""What is compared: closed forms; delays of a sender, and receives posted sooner or later, of two ranks; allreduces as
Beckman et al. and Ferreira et al. measured them; programs like POP and AMG."""
MACHINES = ("odin", "bigred")
"""The machines of the closed forms, if no other is given."""
FORM_RANKS = (2, 8, 13, 64, 1024)
FORM_SIZES = (1, 1024, 131_072)
PAIR_SIZES = (1, 131_072)
BECKMAN_MACHINE, BECKMAN_RANKS = "bluegene-p", 32_768
BECKMAN_HERTZ = (1000, 100, 10)
BECKMAN_DETOURS_PS = (16_000_000, 50_000_000, 100_000_000, 200_000_000)
GREATEST = (1000, 200_000_000)
"""The frequency and length of detours that the published factors are assumed to belong to: the greatest of those that
were injected. What was at hand does not say which."""
FERREIRA_RANKS = 8192
FERREIRA_NOISE = (10, 2_500_000_000)
ALLREDUCE_BYTES = 8
AMG_RANKS = 64
AMG_DELAYS_PS = (2_000_000, 50_000_000, 500_000_000)
AMG_PLACES = ("centre", "corner")
QUIET, JAGUAR = "quiet", "jaguar"
_NEVER = 1 << 61


class PopRuns(NamedTuple):
    """Runs of the POP-like program: its ranks, the percent of POP's calls that it makes, and the seeds of the noise."""

    ranks: int
    percent: int
    seeds: int


@dataclass(frozen=True)
class Scale:
    """How much is simulated: the POP-like program, the seeds of noise in the allreduces, and whether these have all
    algorithms under all noises."""

    pop: tuple[PopRuns, ...]
    seeds: int
    all_algorithms: bool


_POP = (PopRuns(512, 5, 5), PopRuns(2048, 5, 5), PopRuns(8192, 5, 5), PopRuns(32_768, 2, 5))
SCALES = {
    "small": Scale(_POP, 5, all_algorithms=False),
    "full": Scale((*_POP, PopRuns(32_768, 100, 1)), 10, all_algorithms=True),
}


@dataclass(frozen=True)
class VerifyCase:
    """A simulation that is compared. `check` is one of CHECKS; `name`: the form, arrangement, algorithm, noise or place
    in it.

    Noise is regular, `hertz` times a second a detour of `detour_ps`; in "delay" and "amg" there is one such detour.
    `shift_ps` is of "post", `percent` of "pop".
    """

    check: str
    name: str
    machine: Machine
    ranks: int
    bytes: int = ALLREDUCE_BYTES
    hertz: int = 0
    detour_ps: int = 0
    shift_ps: int = 0
    percent: int = 0
    seed: int = 0


def verify_cases(
    machine: Machine | None = None,
    scale: str = "small",
    ranks: Sequence[int] | None = None,
    seed: int = 0,
    checks: Sequence[str] = CHECKS,
) -> list[VerifyCase]:
    """The cases of these checks; `machine` takes the place of MACHINES, `ranks` that of the POP-like program's. Raises
    UsageError."""
    for name in checks:
        if name not in CHECKS:
            raise UsageError(unknown_name("check", name, CHECKS))
    if scale not in SCALES:
        raise UsageError(f"expected a scale of {', '.join(SCALES)}, found {scale}")
    for count in ranks or ():
        if count < 2:
            raise UsageError(f"expected a number of ranks from 2 on, found {count}")
    machines = [Machine.preset(name) for name in MACHINES] if machine is None else [machine.with_noise(None)]
    wanted = SCALES[scale]
    found = [case for one in machines for case in _forms(one)]
    found += [*_pairs(machines[0]), *_amg(machines[0])]
    found += [*_beckman(wanted, seed), *_ferreira(wanted, seed), *_pop(wanted, ranks, seed)]
    return [case for case in found if case.check in checks]


def _forms(machine: Machine) -> Iterator[VerifyCase]:
    for name in FORMS:
        for count in FORM_RANKS if name in OF_MANY_RANKS else (2,):
            if name == "tree" and count & (count - 1):
                continue  # the form is that of a power of two
            yield from (VerifyCase("form", name, machine, count, size) for size in FORM_SIZES)


def _pairs(machine: Machine) -> Iterator[VerifyCase]:
    for size in PAIR_SIZES:
        for name in ARRANGEMENTS:
            yield from (VerifyCase("delay", name, machine, 2, size, detour_ps=delay) for delay in DELAYS_PS)
        for name in PLACES:
            yield from (VerifyCase("post", name, machine, 2, size, shift_ps=shift) for shift in SHIFTS_PS)


def _amg(machine: Machine) -> Iterator[VerifyCase]:
    for name in AMG_PLACES:
        yield from (VerifyCase("amg", name, machine, AMG_RANKS, 0, detour_ps=delay) for delay in AMG_DELAYS_PS)


def _beckman(scale: Scale, seed: int) -> Iterator[VerifyCase]:
    machine = Machine.preset(BECKMAN_MACHINE)
    for algorithm in ALGORITHMS:
        grid = [(hertz, length) for hertz in BECKMAN_HERTZ for length in BECKMAN_DETOURS_PS]
        if algorithm != ALGORITHMS[0] and not scale.all_algorithms:
            grid = [GREATEST]
        yield from _noisy("beckman", algorithm, machine, BECKMAN_RANKS, grid, range(seed, seed + scale.seeds))


def _ferreira(scale: Scale, seed: int) -> Iterator[VerifyCase]:
    for algorithm in ALGORITHMS:
        seeds = range(seed, seed + scale.seeds)
        yield from _noisy("ferreira", algorithm, cray_xt(), FERREIRA_RANKS, [FERREIRA_NOISE], seeds)


def _noisy(
    check: str, name: str, machine: Machine, ranks: int, noises: Sequence[tuple[int, int]], seeds: Sequence[int]
) -> Iterator[VerifyCase]:
    """Without noise once, and with each noise under each seed."""
    yield VerifyCase(check, name, machine, ranks)
    for hertz, length in noises:
        yield from (VerifyCase(check, name, machine, ranks, hertz=hertz, detour_ps=length, seed=one) for one in seeds)


def _pop(scale: Scale, ranks: Sequence[int] | None, seed: int) -> Iterator[VerifyCase]:
    for runs in scale.pop if ranks is None else _pop_on(scale, ranks):
        yield VerifyCase("pop", QUIET, cray_xt(), runs.ranks, percent=runs.percent)
        for one in range(seed, seed + runs.seeds):
            yield VerifyCase("pop", JAGUAR, cray_xt(), runs.ranks, percent=runs.percent, seed=one)


def _pop_on(scale: Scale, ranks: Sequence[int]) -> Iterator[PopRuns]:
    """The scale's own runs on these numbers of ranks, and such as on its fewest where it has none."""
    for count in ranks:
        own = [runs for runs in scale.pop if runs.ranks == count]
        yield from own or [scale.pop[0]._replace(ranks=count)]


def verify_row(case: VerifyCase) -> Row:
    """The simulated time, ps, and `reference_ps`: by the closed form, or that of the same program without a delay, or
    None.

    `waits_ps` is, of "post", how long the receiver waits for the message, or the message for the receiver. `later` is,
    of "amg", the number of ranks that end later than without the delay.
    """
    return {"reference_ps": None, "waits_ps": None, "later": None, **_ROWS[case.check](case)}


def _page(table: pd.DataFrame) -> StudyPage:
    from ...report.verify_page import verify_page

    return verify_page(table)


VERIFY = CaseStudy("verify", 1, verify_row, _page)
"""The study: its table has the columns of `VerifyCase`, and those of `verify_row`."""


def _form_row(case: VerifyCase) -> Row:
    schedule, network, time = closed_form(case.name, case.machine, case.ranks, case.bytes)
    return {**_simulated(schedule, network), "reference_ps": time}


def _delay_row(case: VerifyCase) -> Row:
    pair = delayed_pair(case.name, case.machine, case.bytes, case.detour_ps)
    timeline = _run(pair.schedule, pair.machine)
    return {**_found(timeline), "simulated_ps": int(timeline.finish[1]), "reference_ps": pair.time}


def _post_row(case: VerifyCase) -> Row:
    pair, posted, processed = shifted_pair(case.name, case.machine, case.bytes, case.shift_ps)
    timeline = _run(pair.schedule, pair.machine)
    end = int(timeline.finish[1])
    waits = (end - posted) + (end - processed)
    return {**_found(timeline), "simulated_ps": end, "reference_ps": pair.time, "waits_ps": waits}


def _allreduce_row(case: VerifyCase) -> Row:
    noise = regular_noise(case.hertz, case.detour_ps) if case.detour_ps else None
    return _simulated(allreduces(case.ranks, case.bytes, case.name), case.machine.with_noise(noise), case.seed)


def _pop_row(case: VerifyCase) -> Row:
    noise: AnyNoise | None = noise_preset("jaguar") if case.name == JAGUAR else None
    return _simulated(pop(case.ranks, case.percent), case.machine.with_noise(noise), case.seed)


def _amg_row(case: VerifyCase) -> Row:
    side = round(case.ranks ** (1 / 3))
    rank = side // 2 * (1 + side + side * side) if case.name == "centre" else 0
    phases = tuple(0 if one == rank else case.detour_ps for one in range(case.ranks))
    detour = Noise(as_times([0]), as_times([case.detour_ps]), _NEVER, phases)
    schedule, quiet = amg(case.ranks), case.machine.with_noise(None)
    before = _run(schedule, quiet)
    after = _run(schedule, quiet.with_noise(detour).with_noise_reaches(REACHES))
    later = int((after.finish > before.finish).sum())
    return {**_found(after), "reference_ps": before.max_finish, "later": later}


_ROWS: dict[str, Callable[[VerifyCase], Row]] = {
    "form": _form_row,
    "delay": _delay_row,
    "post": _post_row,
    "beckman": _allreduce_row,
    "ferreira": _allreduce_row,
    "pop": _pop_row,
    "amg": _amg_row,
}


def _simulated(schedule: Schedule, machine: Machine, seed: int = 0) -> Row:
    return _found(_run(schedule, machine, seed))


def _found(timeline: Timeline) -> Row:
    return {"simulated_ps": timeline.max_finish, "messages": timeline.messages}


def _run(schedule: Schedule, machine: Machine, seed: int = 0) -> Timeline:
    return simulate(schedule, machine, seed=seed, progress=check_stop)
