"""Idle waves: what one delay of one rank does to all others, as they wait for it in turn.

docs/studies/idle-wave.md describes programs, delays and what is measured of a wave.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import memory_needs
from ..errors import UsageError
from ..formatting import unknown_name
from ..machine import Level, Machine
from ..noise_models import AnyNoise
from ..random_noise import ExponentialLength, PoissonNoise
from ..schedule import Schedule
from ..simulation import simulate
from ..timeline import Recording, Timeline
from .case_study import CaseStudy, Row
from .one_off_delays import Delay, delays_text, parse_delays, with_delays
from .stopping import check_stop
from .wave_measurement import Wave, Ways, decay, lateness, period, speed, wave_of
from .wave_patterns import JOBS, PATTERNS, schedule_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from ..report.study_page import StudyPage

PROTOCOLS = ("eager", "rendezvous")
PROGRAM = "program"
"""The pattern of a program of one's own."""
NOISY = "nonblocking"
"""The pattern that is simulated with noise, and with two delays."""
MACHINE = "odin"
RANKS, ITERATIONS, COMPUTE_PS, SIZE = 64, 40, 3 * 10**9, 8192
PARTNERS = (1, 2)
LENGTH = 4.5
"""The delay, in computations of an iteration."""
NOISE_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
SEEDS = 10
PICTURE = (128, 200)
"""The most rows of ranks, and the columns of times, of a picture."""
SHADES = 255
MOST_TAKEN = 1 - 1e-6
"""The largest share of time that noise is said to take: a law of lengths without a mean would take all."""
BEGUN, ENDING = 0.25, 0.75
"""Shares of the iterations after which a program has settled, and after which it is about to end."""


@dataclass(frozen=True)
class WaveCase:
    """One wave: a program on a machine, and its delays.

    `pattern` and `protocol` name what the schedule is ("program": of one's own). `partners`: how many ranks away its
    partners are at most; `compute_ps`: its computation of each of the `iterations`. `noise`: the time that the
    machine's noise adds, as a share. `delays` as `parse_delays` reads them. `seed`: of the noise.
    `pictured`: its row has a picture; of several seeds only the first one has.
    """

    schedule: Schedule
    machine: Machine
    pattern: str
    protocol: str
    partners: int
    compute_ps: int
    iterations: int
    noise: float
    delays: str
    seed: int
    pictured: bool = True


@dataclass(frozen=True)
class WavePlan:
    """Waves of generated programs: each pattern with each protocol and distance of `partners`, without noise.

    NOISY also has random noise of `noise_shares`, added shares of its time, and the noise of the machine, each under
    `seeds` seeds; `noise_interval_ps` is the mean time between detours, None: a computation. `delays` None: one of the
    middle rank, in its second computation, LENGTH times as long as that; then NOISY has two delays in a further case.
    Raises UsageError.
    """

    patterns: Sequence[str] = (*PATTERNS, *JOBS)
    protocols: Sequence[str] = PROTOCOLS
    partners: Sequence[int] = PARTNERS
    ranks: int = RANKS
    iterations: int = ITERATIONS
    compute_ps: int = COMPUTE_PS
    size: int = SIZE
    delays: str | None = None
    noise_shares: Sequence[float] = NOISE_SHARES
    noise_interval_ps: int | None = None
    seeds: int = SEEDS
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.patterns:
            if name not in (*PATTERNS, *JOBS):
                raise UsageError(unknown_name("pattern", name, (*PATTERNS, *JOBS)))
        for name in self.protocols:
            if name not in PROTOCOLS:
                raise UsageError(unknown_name("protocol", name, PROTOCOLS))
        for what, number, least in (
            ("number of ranks", self.ranks, 2 * max(self.partners, default=1) + 2),
            ("number of iterations", self.iterations, 4),
            ("computation in ps", self.compute_ps, 1000),
            ("size", self.size, 1),
            ("number of seeds", self.seeds, 0),
            *(("distance of partners", distance, 1) for distance in self.partners),
        ):
            if number < least:
                raise UsageError(f"expected a {what} from {least} on, found {number}")
        for share in self.noise_shares:
            if not 0 < share <= 1:
                raise UsageError(f"expected noise that adds a share above 0, up to 1, found {share:g}")
        if "uneven" in self.patterns and self.ranks % 2:
            raise UsageError(f"expected an even number of ranks for the pattern uneven, found {self.ranks}")
        other = self.noise_interval_ps is not None or (self.noise_shares and tuple(self.noise_shares) != NOISE_SHARES)
        if other and not (NOISY in self.patterns and self.noise_shares):
            raise UsageError(
                f"expected the pattern {NOISY} with noise, the only one that has it, for shares and intervals of noise"
            )
        if self.compute_ps % 1000:
            raise UsageError(f"expected a computation of whole ns, found {self.compute_ps} ps")

    @property
    def one_delay(self) -> str:
        """The delays of most cases."""
        if self.delays is not None:
            return delays_text(parse_delays(self.delays))
        return delays_text([Delay(self.ranks // 2, 3 * self.compute_ps // 2, round(LENGTH * self.compute_ps))])

    @property
    def two_delays(self) -> str:
        """Two delays, of which the second is half as long."""
        at, length = 3 * self.compute_ps // 2, round(LENGTH * self.compute_ps)
        return delays_text([Delay(self.ranks // 4, at, length), Delay(3 * self.ranks // 4, at, length // 2)])


@dataclass(frozen=True)
class OwnProgram:
    """Waves of a program of one's own, without noise, and with the machine's under `seeds` seeds."""

    schedule: Schedule
    delays: str
    seeds: int = SEEDS
    seed: int = 0


def idle_wave_cases(machine: Machine, plan: WavePlan | OwnProgram | None = None) -> list[WaveCase]:
    """The cases of a plan. Raises UsageError."""
    if isinstance(plan, OwnProgram):
        return _own_cases(machine, plan)
    plan = plan or WavePlan()
    quiet = machine.with_noise(None)
    found = []
    for pattern in plan.patterns:
        for protocol in plan.protocols:
            found += [
                _case(plan, pattern, protocol, partners, with_protocol(quiet, protocol))
                for partners in (plan.partners if pattern in PATTERNS else (1,))
            ]
    if NOISY in plan.patterns:
        found += _noisy_cases(machine, plan)
    return found


def _own_cases(machine: Machine, own: OwnProgram) -> list[WaveCase]:
    text = delays_text(parse_delays(own.delays))
    quiet = WaveCase(own.schedule, machine.with_noise(None), PROGRAM, "machine's", 0, 0, 0, 0.0, text, own.seed)
    if machine.noise is None:
        return [quiet]
    noisy = replace(quiet, machine=machine, noise=added_share(machine.noise))
    return [quiet, *_each_seed(noisy, own.seeds)]


def _each_seed(case: WaveCase, seeds: int) -> Iterator[WaveCase]:
    """The case under so many seeds from its own on."""
    for seed in range(case.seed, case.seed + seeds):
        yield replace(case, seed=seed, pictured=seed == case.seed)


def added_share(noise: AnyNoise) -> float:
    """The time that noise adds to a computation, as a share of it."""
    taken = min(noise.overhead, MOST_TAKEN)
    return taken / (1 - taken)


def _noisy_cases(machine: Machine, plan: WavePlan) -> Iterator[WaveCase]:
    """NOISY with two delays, with noise, and with that of the machine."""
    protocol, partners = plan.protocols[0], min(plan.partners)
    machine = with_protocol(machine, protocol)
    quiet = machine.with_noise(None)
    case = _case(plan, NOISY, protocol, partners, quiet)
    if plan.delays is None:
        yield replace(case, delays=plan.two_delays)
    interval = plan.noise_interval_ps or plan.compute_ps
    for share in plan.noise_shares:
        noisy = quiet.with_noise(PoissonNoise(interval, ExponentialLength(share * interval)))
        yield from _each_seed(replace(case, machine=noisy, noise=share), plan.seeds)
    if machine.noise is not None:
        yield from _each_seed(replace(case, machine=machine, noise=added_share(machine.noise)), plan.seeds)


def _case(plan: WavePlan, pattern: str, protocol: str, partners: int, machine: Machine) -> WaveCase:
    schedule = schedule_of(pattern, plan.ranks, plan.iterations, plan.compute_ps, plan.size, partners)
    return WaveCase(
        schedule, machine, pattern, protocol, partners, plan.compute_ps, plan.iterations, 0.0, plan.one_delay, plan.seed
    )


def with_protocol(machine: Machine, protocol: str) -> Machine:
    """`machine` with all messages between its ranks eager, or all of them by rendezvous."""
    limit = None if protocol == "eager" else 0

    def changed(level: Level) -> Level:
        return replace(level, eager_limit=limit)

    node = None if machine.node is None else changed(machine.node)
    return replace(machine, network=changed(machine.network), node=node)


def idle_wave_row(case: WaveCase) -> Row:
    """The wave of a case, in numbers. docs/studies/idle-wave.md says what each is."""
    delays = parse_delays(case.delays)
    for delay in delays:
        if delay.rank >= case.schedule.ranks:
            raise UsageError(f"expected a delay of a rank below {case.schedule.ranks:,}, found {delay}")
    without = simulate(case.schedule, case.machine, seed=case.seed, record=True, progress=check_stop)
    for delay in delays:
        if delay.at >= without.finish[delay.rank]:
            ended = int(without.finish[delay.rank])
            raise UsageError(f"expected a delay before the rank has done all at {ended} ps, found {delay}")
    delayed = _delayed(case, delays, without)
    wave = wave_of(without, delayed, delays, _ways(case))
    iteration = period(without, delays[0].rank, case.iterations, BEGUN)
    return {
        **_costs(wave, delays, without, delayed),
        "iteration_ps": iteration,
        "late_iteration_ps": period(delayed, delays[0].rank, case.iterations, ENDING),
        **_speeds(case, wave, iteration),
        **_decay(wave),
        "wave": _ranks_text(wave),
        "picture": _picture(without, delayed, delays) if case.pictured else "",
    }


def _delayed(case: WaveCase, delays: Sequence[Delay], without: Timeline) -> Timeline:
    """The program with the delays, under the same noise."""
    until = 2 * (without.max_finish + sum(delay.length for delay in delays)) + 1000
    while True:
        machine = with_delays(case.machine, case.seed, case.schedule.ranks, until, delays)
        delayed = simulate(case.schedule, machine, record=True, progress=check_stop)
        if delayed.max_finish < until:
            return delayed
        until *= 2


def _ways(case: WaveCase) -> Ways:
    pattern = PATTERNS.get(case.pattern)
    if pattern is None:
        return Ways.messages
    return Ways.up if pattern.goes_up_only(case.protocol) else Ways.ring


def _costs(wave: Wave, delays: Sequence[Delay], without: Timeline, delayed: Timeline) -> Row:
    length = sum(delay.length for delay in delays)
    cost = delayed.max_finish - without.max_finish
    return {
        "ranks": len(without.finish),
        "delay_ps": length,
        "without_ps": without.max_finish,
        "with_ps": delayed.max_finish,
        "cost": cost / length,
        "ranks_cost": float(wave.last.sum()) / length,
        "reached": int(wave.reached.sum()),
        "farthest": int(wave.distance[wave.reached].max(initial=0)),
    }


def _speeds(case: WaveCase, wave: Wave, iteration: float | None) -> Row:
    """Speeds in ranks (or messages) a second, and in ranks an iteration beside those published. Waves of several delays
    have none."""
    import numpy as np

    everywhere = np.ones(len(wave.distance), bool)
    sides: dict[str, npt.NDArray[np.bool_]] = {"up": wave.above, "down": ~wave.above}
    one_delay = "," not in case.delays
    whole = speed(wave, everywhere & one_delay)
    found: Row = {"speed": None if whole.slope is None else whole.slope * 1e12, "speed_r2": whole.r2}
    pattern = PATTERNS.get(case.pattern)
    published = None if pattern is None else pattern.published(case.protocol, case.partners)
    for number, (side, ranks) in enumerate(sides.items()):
        line = speed(wave, ranks & one_delay & (pattern is not None))
        found[f"{side}_reached"] = int((wave.reached & ranks).sum()) if pattern is not None else None
        found[f"{side}_step"] = None if line.slope is None or iteration is None else line.slope * iteration
        found[f"{side}_r2"] = line.r2
        found[f"{side}_published"] = None if published is None else float(published[number])
    return found


def _decay(wave: Wave) -> Row:
    line = decay(wave)
    return {"decay_ps": None if line.slope is None else -line.slope, "decay_r2": line.r2}


def _ranks_text(wave: Wave) -> str:
    """The wave rank by rank, as JSON: distance, above, arrival_ps, most_ps and last_ps."""
    columns = {
        "distance": wave.distance,
        "above": wave.above.astype(int),
        "arrival_ps": wave.arrival,
        "most_ps": wave.most,
        "last_ps": wave.last,
    }
    return json.dumps({name: values.tolist() for name, values in columns.items()})


def _picture(without: Timeline, delayed: Timeline, delays: Sequence[Delay]) -> str:
    """By how much ranks are late over time, as JSON: for each row of ranks a text of two hexadecimal digits a time, ff
    for the longest delay or more; and the time of the last column."""
    longest = max(delay.length for delay in delays)
    rows, times = lateness(without, delayed, *PICTURE)
    shades = ["".join(f"{max(0, min(SHADES, SHADES * late // longest)):02x}" for late in row) for row in rows]
    return json.dumps({"until_ps": int(times[-1]), "longest_ps": longest, "late": shades})


def picture_of(row: Any) -> tuple[npt.NDArray[np.float64], float] | None:  # noqa: ANN401 - a row of the table
    """By how much ranks are late over time, in longest delays: an array of rows of ranks and columns of times from 0
    on, and the last of these times in ps. None if the row has no picture."""
    import numpy as np

    if not row["picture"]:
        return None
    said = json.loads(row["picture"])
    shades = np.array([list(bytes.fromhex(text)) for text in said["late"]], float)
    return shades / SHADES, float(said["until_ps"])


def ranks_of(row: Any) -> pd.DataFrame:  # noqa: ANN401 - a row of the table
    """The wave of a row rank by rank, from its text: rank, distance, above, arrival_ps (-1: none), most_ps, last_ps."""
    import pandas as pd

    return pd.DataFrame(json.loads(row["wave"])).rename_axis("rank").reset_index()


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.idle_wave_page import idle_wave_page

    return idle_wave_page(table)


def _memory(case: WaveCase) -> int:
    """A lower bound of the memory of two simulations that record all ops, bytes."""
    return 2 * memory_needs.recorded(case.schedule.ranks, case.schedule.least_ops, Recording().most_bytes)


IDLE_WAVE = CaseStudy("idle-wave", 2, idle_wave_row, _page, _memory)
"""The study: its table has the columns of `WaveCase`, and those of `idle_wave_row`."""
