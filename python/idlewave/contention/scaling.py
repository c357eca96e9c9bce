"""Contention in memory as noise of the simulator, and what it does to a program at scale.

The model. Iterations of the victim took t₁, t₂, … with traffic and q₁, q₂, … without; the quickest of all took f. A
computation of length f that the schedule has thus takes tᵢ while traffic comes: the noise is a trace of detours in
which f of computation and tᵢ − f of standing still alternate, in the order in which they were measured. To slow a
computation and not to stop it, each iteration is cut into `PIECES` equal pieces. Quiet iterations make a noise in the
same way, so that what scatters without traffic is in both simulations, and the slowdown is the ratio of their times. In
bursts, the iterations with traffic and those without are two series that go on in turn, each from where it stopped: a
burst may begin and end within an iteration, so that bursts and pauses are exactly as long as they are asked to be.

The assumptions. The program's computations are slowed as those of the victim are. Each rank has traffic all the time,
or in bursts, at this rate, whatever it does; each is at a place of its own in the measured series. Traffic slows
computation and reductions, and no message: neither the CPU's share of a message, nor the network that it takes away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import InputError, UsageError
from ..formatting import join_words, plain, plain_time, plural, volume_text
from ..machine import Machine
from ..noise_models import Noise
from ..provenance import Provenance
from ..simulation import as_machine, simulate
from .defaults import REPLICATES, SEED
from .features import check_labels
from .slowdowns import confidence_interval
from .table import check_seconds, chosen_victim, has_traffic, pairs_of
from .traffic import reached

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..schedule import Schedule

    Seconds = npt.NDArray[np.float64]

PIECES = 16
"""Pieces of an iteration, each of which computes and then stands still."""
MOST_DETOURS = 400_000
REACHES = ("calc", "reduction")
"""What traffic slows in the model."""
UNSTEADY = 0.3
"""Quiet iterations that take longer than the quickest by more than this share are disturbed by something else."""
PICOSECONDS = 1e12
_SETTING = ("pattern", "stores", "buffer_bytes")
"""The columns that say, beside rate and cores, what traffic a pair of runs had."""


@dataclass(frozen=True, eq=False)
class MemoryNoise:
    """What traffic does to a computation.

    `rate_Bps` was asked for, `achieved_Bps` is the median of what was reached (NaN if the table does not say). `noise`
    is that of iterations with traffic, `quiet_noise` that of those without; both lengthen a computation beyond
    `quickest_s`, the quickest iteration. `slowdowns` is the distribution: each iteration with traffic over the mean of
    the quiet ones; `quiet_scatter` is by what share a quiet one takes longer than the quickest, in the mean.
    """

    victim: str
    rate_Bps: float  # noqa: N815 - bytes per second
    achieved_Bps: float  # noqa: N815
    noise: Noise
    quiet_noise: Noise
    quickest_s: float
    slowdowns: Seconds
    quiet_scatter: float

    @property
    def traffic(self) -> str:
        """The traffic in words, with the rate that was reached if that is not what was asked for."""
        asked = f"{plain(volume_text(self.rate_Bps))}/s"
        if math.isnan(self.achieved_Bps) or reached(self.rate_Bps, self.achieved_Bps):
            return asked
        return f"{plain(volume_text(self.achieved_Bps))}/s ({asked} were asked for)"

    @property
    def mean_slowdown(self) -> float:
        """The slowdown of a computation that meets all of them: the mean of iterations with traffic over that of quiet
        ones."""
        return float(self.slowdowns.mean())


@dataclass(frozen=True)
class Bursts:
    """Traffic that comes for `seconds` and then pauses, so that it is there for this `share` of the time."""

    share: float
    seconds: float

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1 or not 0 < self.seconds < 1e6:
            raise UsageError(
                f"bursts: expected a share above 0 and up to 1, and a time above 0 s, found {self.share} and "
                f"{self.seconds} s"
            )

    def count(self, measured: float) -> int:
        """The number of bursts in which iterations of `measured` seconds come all."""
        return max(1, math.ceil(measured / self.seconds - 1e-9))


def memory_noise(
    table: pd.DataFrame,
    victim: str,
    rate: float | None = None,
    *,
    cores: int | None = None,
    bursts: Bursts | None = None,
) -> MemoryNoise:
    """The noise that traffic of `rate` B/s, as asked for, is to a program like `victim`.

    `rate` may be left out if the table has one rate of the victim, and the number of `cores` that write if it has one
    at this rate. `bursts`: traffic comes and goes; else it is always
    there. Raises InputError that lists what there is if the table has no such iterations, or several kinds of traffic
    of that rate.
    """
    own = chosen_rows(table, victim, rate, cores)
    _check_bursts(own, victim, bursts)
    return _noise_of(own, victim, bursts)


def chosen_rows(table: pd.DataFrame, victim: str, rate: float | None = None, cores: int | None = None) -> pd.DataFrame:
    """The iterations of a victim, a rate and a number of cores that write, whose traffic was of one kind. Raises
    InputError."""
    own = table[table["victim"] == chosen_victim(table, victim)]
    check_seconds(own)
    own = _of_one(own, victim, "pair_rate_Bps", "rate", rate, lambda found: f"{plain(volume_text(found))}/s")
    own = _of_one(own, victim, "cores", "number of cores", cores, lambda found: f"{found:g}")
    check_labels(own, victim)
    kinds = own[has_traffic(own)]["traffic"].unique()
    if len(kinds) > 1:
        raise InputError(f"{victim}: expected one kind of traffic, found {join_words(sorted(map(str, kinds)))}")
    for column in _SETTING:
        if column in own and own[column].nunique() > 1:
            found = join_words(sorted(map(str, own[column].unique())))
            raise InputError(f"{victim}: expected one value of {column} at this rate, found {found}")
    return own


def _of_one(
    own: pd.DataFrame, victim: str, column: str, what: str, wanted: float | None, text: Callable[[float], str]
) -> pd.DataFrame:
    """The rows whose value is the wanted one, or the only one there is. Raises InputError."""
    if column not in own:
        return own
    there = sorted({float(found) for found in own[column].dropna()})
    shown = join_words([*map(text, there)]) or "none in the table"
    if wanted is None:
        if len(there) != 1:
            raise InputError(f"{victim}: expected a {what} to be chosen of {shown}")
        wanted = there[0]
    if wanted not in there:
        raise InputError(f"{victim}: expected iterations at the {what} {text(wanted)}, found {shown}")
    return own[own[column] == wanted]


def _noise_of(own: pd.DataFrame, victim: str, bursts: Bursts | None) -> MemoryNoise:
    traffic = has_traffic(own)
    seconds = own["seconds"].to_numpy(dtype=np.float64)
    slowed, quiet = seconds[traffic], seconds[~traffic]
    quickest = float(seconds.min())
    of_quiet = _Series.of(quiet, quickest)
    return MemoryNoise(
        victim,
        float(own["pair_rate_Bps"].iloc[0]),
        float(own.loc[traffic, "achieved_rate_Bps"].median()) if "achieved_rate_Bps" in own else math.nan,
        _trace(_in_bursts(_Series.of(slowed, quickest), of_quiet, bursts)),
        _trace(of_quiet),
        quickest,
        slowed / quiet.mean(),
        float(quiet.mean()) / quickest - 1,
    )


def _check_bursts(own: pd.DataFrame, victim: str, bursts: Bursts | None) -> None:
    """Raise UsageError for bursts that the measured iterations do not resolve, or that take too many of them."""
    if bursts is None or bursts.share == 1:
        return
    traffic = has_traffic(own)
    slowed, quiet = own.loc[traffic, "seconds"], own.loc[~traffic, "seconds"]
    shortest = float(slowed.mean())
    if bursts.seconds < shortest:
        raise UsageError(
            f"bursts: expected at least {plain_time(shortest * PICOSECONDS)}, which an iteration of {victim} with "
            f"traffic takes in the mean, found {plain_time(bursts.seconds * PICOSECONDS)}"
        )
    busy = bursts.seconds * bursts.count(float(slowed.sum()))
    needed = busy / shortest + busy * (1 / bursts.share - 1) / float(quiet.mean())
    if needed > MOST_DETOURS:
        raise UsageError(
            f"bursts of {plain_time(bursts.seconds * PICOSECONDS)} for a share of {bursts.share:g} of the time take "
            f"{needed:.3g} iterations of {victim}: expected at most {MOST_DETOURS}, so shorter bursts or a larger share"
        )


@dataclass(frozen=True)
class _Series:
    """How long a rank computes, and then stands still, in each stretch of time, in seconds."""

    computing: Seconds
    standing: Seconds

    @classmethod
    def of(cls, seconds: Seconds, quickest: float) -> _Series:
        """Iterations that took `seconds`, in each of which as much is computed as in the quickest."""
        return cls(np.full(len(seconds), quickest), seconds - quickest)

    def cut(self, times: Seconds) -> tuple[_Series, npt.NDArray[np.int64]]:
        """The same from 0 to the last of `times`, again and again from its beginning, and cut at each of them; and for
        each stretch before which of them it lies."""
        ends = np.cumsum(self.computing + self.standing)
        rounds = np.arange(math.ceil(times[-1] / ends[-1]) + 1)
        own = (rounds[:, None] * ends[-1] + np.concatenate([[0.0], ends[:-1]])).ravel()
        begins = np.union1d(own[own < times[-1]], times[:-1])
        lengths = np.diff(begins, append=times[-1])
        middle = begins + lengths / 2
        iteration = np.minimum(np.searchsorted(ends, middle % ends[-1], side="right"), len(ends) - 1)
        share = lengths / (self.computing + self.standing)[iteration]
        stretches = _Series(self.computing[iteration] * share, self.standing[iteration] * share)
        return stretches, np.searchsorted(times, middle)


def _in_bursts(slowed: _Series, quiet: _Series, bursts: Bursts | None) -> _Series:
    """What a rank meets: bursts of the slowed series, and between them pauses of the quiet one."""
    if bursts is None or bursts.share == 1:
        return slowed
    number = np.arange(1, bursts.count(float(np.sum(slowed.computing + slowed.standing))) + 1, dtype=np.float64)
    busy, burst = slowed.cut(number * bursts.seconds)
    idle, pause = quiet.cut(number * bursts.seconds * (1 / bursts.share - 1))
    order = np.argsort(np.concatenate([2 * burst, 2 * pause + 1]), kind="stable")
    return _Series(
        np.concatenate([busy.computing, idle.computing])[order], np.concatenate([busy.standing, idle.standing])[order]
    )


def _trace(series: _Series) -> Noise:
    """Detours that make a computation take these times in turn, each in pieces."""
    pieces = max(1, min(PIECES, MOST_DETOURS // len(series.computing)))
    computing, standing = (
        np.repeat(seconds / pieces * PICOSECONDS, pieces) for seconds in (series.computing, series.standing)
    )
    ends = np.rint(np.cumsum(computing + standing)).astype(np.int64)
    begins = np.concatenate([[0], ends[:-1]]) + np.rint(computing).astype(np.int64)
    lengths = np.maximum(ends - begins, 0)
    some = (lengths > 0) & (standing >= 0.5)  # what is shorter comes from rounding to picoseconds
    return Noise(begins[some], lengths[some], int(ends[-1]))


def scale_contention(
    table: pd.DataFrame,
    schedule_of: Callable[[int], Schedule],
    machine: Machine | str,
    *,
    victim: str,
    ranks: Sequence[int],
    rate: float | None = None,
    cores: int | None = None,
    bursts: Bursts | None = None,
    replicates: int = REPLICATES,
    seed: int = SEED,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> pd.DataFrame:
    """The slowdown of a program whose computations suffer as `victim` does, at several numbers of ranks.

    `schedule_of` makes the schedule for a number of ranks. Each replicate draws pairs of runs of the table with
    replacement, makes the noise of these, and draws where in it each rank is; so its scatter is that of the measurement
    and that of the ranks. The machine's own noise is left out.

    Returns a row a number of ranks: ranks, quiet_s (the median finish time without traffic), slowdown (the median of
    the time with traffic over that without), low, high (95 % of the replicates), replicates. Raises InputError as
    `memory_noise` does, UsageError for bursts that the table does not resolve, and what a simulation raises.
    """
    if not ranks or replicates < 1:
        raise UsageError(f"expected numbers of ranks and replicates, found {plural(len(ranks), 'number')} of ranks")
    own = chosen_rows(table, victim, rate, cores)
    _check_bursts(own, victim, bursts)
    base = as_machine(machine)
    random = np.random.default_rng(seed)
    noises = [_noise_of(_drawn(own, random), victim, bursts) for _ in range(replicates)]
    rows = []
    for place, count in enumerate(ranks):
        count_on = partial(_add, progress, place * replicates, len(ranks) * replicates)
        finished = _finished(schedule_of(count), base, noises, seed, count_on)
        slowdowns = finished[:, 1] / np.maximum(finished[:, 0], 1)
        quiet_s = float(np.median(finished[:, 0])) / PICOSECONDS
        rows.append((count, quiet_s, float(np.median(slowdowns)), *confidence_interval(slowdowns), replicates))
    options = {
        "victim": victim,
        "rate_Bps": float(own["pair_rate_Bps"].iloc[0]),
        **({"cores": int(own["cores"].iloc[0])} if "cores" in own else {}),
        "replicates": replicates,
        "seed": seed,
    }
    provenance = Provenance.made("study", by="idlewave.contention", options=options, sources=(base.provenance,))
    return provenance.attach(pd.DataFrame(rows, columns=["ranks", "quiet_s", "slowdown", "low", "high", "replicates"]))


def _add(progress: Callable[[int, int], None], before: int, every: int, more: int) -> None:
    progress(before + more, every)


def _finished(
    schedule: Schedule, machine: Machine, noises: Sequence[MemoryNoise], seed: int, progress: Callable[[int], None]
) -> Seconds:
    """The finish times without and with traffic, in picoseconds: a row for the noise of each replicate."""
    rows = []
    for replicate, found in enumerate(noises):
        rows.append(
            [
                simulate(schedule, _with(machine, noise), seed=seed + replicate).max_finish
                for noise in (found.quiet_noise, found.noise)
            ]
        )
        progress(replicate + 1)
    return np.array(rows, dtype=np.float64)


def _with(machine: Machine, noise: Noise) -> Machine:
    """The machine with this noise, or without any if nothing was slowed."""
    if not len(noise.lengths):
        return machine.with_noise(None)
    return replace(machine, noise=noise, noise_origin=None, noise_reaches=REACHES)


def _drawn(own: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """As many pairs of runs as there are, drawn with replacement; at least one run of each kind."""
    pairs = pairs_of(own)
    names = np.unique(pairs)
    rows = {name: np.flatnonzero(pairs == name) for name in names}
    traffic = has_traffic(own)
    while True:
        chosen = np.concatenate([rows[name] for name in random.choice(names, len(names))])
        if traffic[chosen].any() and not traffic[chosen].all():
            return own.iloc[chosen]
