"""A machine's noise as a sum of periodic and random sources, which can be thinned, scaled, moved and realised."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import structs

from ...errors import InputError
from ...escaping import cut, found, name_of, quote, toml_text
from ...input.files import read_text
from ...input.validation import read_toml
from ...noise_models import Noise
from ...random_noise import MixedNoise, PoissonNoise
from ...units import parse_time
from .length_laws import LengthLaw
from .noise_recording import Detours
from .signature_file import SignatureTable
from .source_checks import SourceCheck, check_notes

FORMAT = 1
PERIODIC, RANDOM = "periodic", "random"
MOST_DETOURS = 20_000_000

_FITTED_NAME = re.compile(r"(every|random) (\d+(?:\.\d+)?[mnpu]?s)( \(\d+\))?")
_AS_NEAR = {"every": 1.01, "random": 10**0.1}
"""Times in names are equivalent if their ratio is no larger: a unit of the last of a period's three digits, or a bin of
the histogram by which lengths are divided, because medians of a few hundred lengths differ by several percent."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """A source of detours on one core.

    `kind` periodic: a detour comes every `period_ps`, late or early by a normal time of deviation `jitter_ps`, in the
    share `share` of the periods. `kind` random: detours come at an exponential distance of mean `period_ps` (jitter and
    share have no meaning). The lengths of detours have the law `length`.
    """

    name: str
    core: int
    kind: str
    period_ps: float
    length: LengthLaw
    jitter_ps: float = 0.0
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in (PERIODIC, RANDOM):
            raise InputError(
                f"source {cut(self.name)}: kind: expected {PERIODIC} or {RANDOM}, found {found(self.kind)}"
            )
        if not (math.isfinite(self.period_ps) and self.period_ps >= 1000):
            raise InputError(f"source {cut(self.name)}: period: expected at least 1 ns, found {self.period_ps} ps")
        if not (0 <= self.share <= 1 and 0 <= self.jitter_ps < math.inf):
            raise InputError(f"source {cut(self.name)}: expected a share from 0 to 1 and a jitter that is not negative")

    @property
    def rate_per_s(self) -> float:
        """How often it comes, on average."""
        return (self.share if self.kind == PERIODIC else 1.0) * 1e12 / self.period_ps

    @property
    def overhead(self) -> float:
        """The share of its core's time that it takes."""
        return self.rate_per_s * self.length.mean * 1e-12

    def arrivals(self, duration_ps: int, random: np.random.Generator) -> Values:
        """The times in `duration_ps` at which it comes, in ps, ascending.

        A phase is drawn, and also whether the remaining fraction of a period has a detour, so that the mean number is
        that of `rate_per_s`, however long the period is.
        """
        if self.kind == RANDOM:
            count = random.poisson(duration_ps / self.period_ps)
            return np.sort(random.random(count)) * duration_ps
        count = int(duration_ps / self.period_ps + random.random())
        when = (np.arange(count) + random.random()) * self.period_ps + random.normal(0, 1, count) * self.jitter_ps
        kept: Values = np.sort(when[random.random(count) < self.share] % duration_ps)
        return kept


@dataclass(frozen=True)
class Goodness:
    """The quality of the fit to one core's recording: overhead, and the distances of lengths and spectrum (compare.py).

    `overhead` is as measured, `fitted_overhead` that of the sources on average; the distances are those of one
    realisation that is as long as the recording; `spectrum_distance` is NaN if that is too short.
    """

    core: int
    overhead: float
    fitted_overhead: float
    ks: float
    spectrum_distance: float

    @property
    def bad(self) -> str:
        """The defects of the fit, in words; empty if there are none."""
        wrong = []
        if abs(self.fitted_overhead - self.overhead) > max(0.2 * self.overhead, 1e-5):
            wrong.append(f"its overhead is {self.fitted_overhead:.3%} where {self.overhead:.3%} was measured")
        if self.ks > 0.1:
            wrong.append(f"lengths differ by {self.ks:.2f} (Kolmogorov and Smirnov)")
        if self.spectrum_distance > 0.3:
            wrong.append(f"spectra differ by {self.spectrum_distance:.2f}")
        return "; ".join(wrong)


@dataclass(frozen=True)
class Signature:
    """The noise of a machine's cores.

    `cores`: all, also those without a source. `goodness` of the fit, and `checks`: what the recording says of each
    source; both are empty once the signature was changed.
    """

    name: str
    cores: tuple[int, ...]
    sources: tuple[Source, ...]
    goodness: tuple[Goodness, ...] = ()
    checks: tuple[SourceCheck, ...] = ()

    @property
    def overhead(self) -> float:
        """The share of the time that its sources take, on average over the cores."""
        return sum(source.overhead for source in self.sources) / max(len(self.cores), 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on cores whose fit is bad, and on sources that are mixed with other work or doubtful."""
        bad = [f"Core {fit.core}: the fit is bad: {fit.bad}; replay it." for fit in self.goodness if fit.bad]
        return (*bad, *check_notes(self.checks))

    def thin(self, part: float) -> Signature:
        """A share `part` of all detours, chosen at random. Raises InputError if it is not from 0 to 1."""
        if not 0 <= part <= 1:
            raise InputError(f"thin: expected a part from 0 to 1, found {part}")
        if part == 0:
            return self._with([])
        return self._with(
            [
                replace(s, share=s.share * part) if s.kind == PERIODIC else replace(s, period_ps=s.period_ps / part)
                for s in self.sources
            ]
        )

    def scale(self, lengths: float = 1.0, rates: float = 1.0) -> Signature:
        """Detours `lengths` times as long, `rates` times as often. Raises InputError if one is not above 0."""
        if not (0 < lengths < math.inf and 0 < rates < math.inf):
            raise InputError(f"scale: expected factors above 0, found lengths {lengths}, rates {rates}")
        return self._with(
            [replace(s, length=s.length.scaled(lengths), period_ps=s.period_ps / rates) for s in self.sources]
        )

    def called(self, name: str) -> tuple[Source, ...]:
        """The sources of that name; on cores that have none, those with an equivalent name.

        Each core is fitted by itself: a source may be `every 4ms` on one and `every 4.01ms` on another, `random 12us`
        and `random 13us`. Raises InputError naming all sources if none has the name itself.
        """
        exact = [source for source in self.sources if source.name == name]
        if not exact:
            names = ", ".join(sorted({source.name for source in self.sources}))
            raise InputError(f"no source is called {quote(name)}; there are {cut(names) or 'none'}")
        cores = {source.core for source in exact}
        near = [s for s in self.sources if s.core not in cores and _alike(s.name, name)]
        return (*exact, *near)

    def move(self, name: str, period_ps: float) -> Signature:
        """The signature with another period of the sources `called` so, with their lengths. Raises InputError as
        `called`."""
        moved = self.called(name)
        return self._with([replace(s, period_ps=period_ps) if s in moved else s for s in self.sources])

    def drop(self, name: str) -> Signature:
        """The signature without the sources `called` so. Raises InputError as `called` does."""
        dropped = self.called(name)
        return self._with([s for s in self.sources if s not in dropped])

    def detours(self, seconds: float, seed: int) -> list[Detours]:
        """The detours of `seconds` of each core, drawn from `seed`: separate, ascending, inside.

        A detour that comes during another one waits for its end. The part of a detour beyond the end continues at the
        beginning, because noise is repeated. Raises InputError if the sources leave a core no time, for more than
        twenty million detours, or for a time whose picoseconds do not fit into 64 bits.
        """
        if not 1 <= seconds * 1e12 * max(len(self.cores), 1) < 2**63:
            raise InputError(f"{seconds} s of each core: expected more than 0, and of all together less than 106 days")
        duration = round(seconds * 1e12)
        expected = sum(s.rate_per_s for s in self.sources) * seconds
        if expected > MOST_DETOURS:
            raise InputError(f"{expected:.2g} detours in {seconds} s of each core: expected at most {MOST_DETOURS}")
        made = []
        for core in self.cores:
            random = np.random.default_rng([seed, core])
            arrivals, lengths = [np.array([])], [np.array([])]
            for source in self.sources:
                if source.core == core:
                    when = source.arrivals(duration, random)
                    arrivals.append(when)
                    lengths.append(source.length.quantile(random.random(len(when))))
            starts, taken = queued(np.concatenate(arrivals), np.concatenate(lengths), duration, f"core {core}")
            made.append(Detours(self.name, core, starts, taken, duration))
        return made

    def realise(self, seconds: float, seed: int, phase: str = "random") -> Noise:
        """Noise for the simulator: `seconds` of each core, end to end, as a measured machine's noise is."""
        return end_to_end(self.detours(seconds, seed), phase)

    def noise(self, seconds: float, seed: int, phase: str = "random") -> Noise | MixedNoise:
        """Noise for the simulator that never repeats its random detours, however many ranks there are.

        Periodic sources are realised as by `realise`. Random sources remain laws, from which each rank draws its own
        detours; each rank has those of the average core. Raises InputError if the sources leave no time, or if a mean
        is infinite.
        """
        if not self.overhead < 1:
            raise InputError(f"{cut(self.name)}: its sources leave no time: {_percent(self.overhead)} of it is taken")
        by_clock = self._with([s for s in self.sources if s.kind == PERIODIC]).realise(seconds, seed, phase)
        free = 1 - self.overhead
        random = tuple(
            PoissonNoise(s.period_ps * len(self.cores) * free, s.length.for_simulator(), phase)
            for s in self.sources
            if s.kind == RANDOM
        )
        if not random:
            return by_clock
        return MixedNoise(by_clock, random)

    def to_toml(self) -> str:
        """The text of a noise-signature.toml. Periods and lengths in ps, goodness of the fit as remarks."""
        lines = [f"format = {FORMAT}", f"name = {toml_text(self.name)}", f"cores = {list(self.cores)}"]
        lines += [f"# {note}" for note in self.notes]
        for source in self.sources:
            lines += [
                "",
                "[[source]]",
                f"name = {toml_text(source.name)}",
                f"core = {source.core}",
                f'kind = "{source.kind}"',
                f"period_ps = {float(source.period_ps)!r}",
                f"jitter_ps = {float(source.jitter_ps)!r}",
                f"share = {float(source.share)!r}",
                f'length = {{ kind = "{source.length.kind}", numbers = {[float(x) for x in source.length.numbers]} }}',
            ]
        for fit in self.goodness:
            lines += ["", "[[goodness]]", *(f"{key} = {value!r}" for key, value in asdict(fit).items())]
        for check in self.checks:
            lines += ["", "[[check]]", *(f"{key} = {_toml_value(x)}" for key, x in asdict(check).items())]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str, where: str = "signature") -> Signature:
        """Read the text of to_toml. Raises InputError that names the key; `where` is the name of the text in
        messages."""
        table = read_toml(text, SignatureTable, where)
        sources = []
        for number, row in enumerate(table.source):
            try:
                law = LengthLaw(row.length.kind, tuple(row.length.numbers))
            except InputError as error:
                raise InputError(f"{where}: source[{number}].{error}") from None
            sources.append(Source(row.name, row.core, row.kind, row.period_ps, law, row.jitter_ps, row.share))
        goodness = tuple(Goodness(**structs.asdict(fit)) for fit in table.goodness)
        checks = tuple(SourceCheck(**structs.asdict(check)) for check in table.check)
        return cls(table.name, tuple(table.cores), tuple(sources), goodness, checks)

    @classmethod
    def load(cls, path: str | Path) -> Signature:
        """Read a noise-signature.toml, a file or a pipe. Raises InputError that names the file."""
        return cls.from_toml(read_text(path, "a signature", pipe=True), name_of(path))

    def _with(self, sources: Sequence[Source]) -> Signature:
        return replace(self, sources=tuple(sources), goodness=(), checks=())


def _alike(name: str, other: str) -> bool:
    """Whether the fits of two cores may have given these names to one source."""
    first, second = (_FITTED_NAME.fullmatch(text) for text in (name, other))
    if first is None or second is None or first[1] != second[1] or first[3] != second[3]:
        return False
    times = [parse_time(match[2]) for match in (first, second)]
    return max(times) <= _AS_NEAR[first[1]] * min(times)


def _toml_value(value: str | float) -> str:
    if isinstance(value, str):
        return toml_text(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _percent(part: float) -> str:
    return f"{part:.0%}" if math.isfinite(part) else "an infinite part"


def queued(
    arrivals: Values, lengths: Values, duration: int, where: str = "noise"
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Starts and lengths of separate detours in [0, duration): a detour that comes during another waits for its end.

    Detours without a gap between them are joined. The part beyond the end begins at 0 instead. Raises InputError if
    they leave no time.
    """
    order = np.argsort(arrivals, kind="stable")
    when = np.minimum(arrivals[order].astype(np.int64), duration - 1)
    taken = np.maximum(np.round(np.minimum(lengths[order], float(duration))), 1).astype(np.int64)
    if int(taken.sum()) >= duration:
        raise InputError(f"{where}: its sources leave no time: {taken.sum() / duration:.0%} of it is taken")
    carried = 0
    for _ in range(64):
        first = np.concatenate([[0], when]) if carried else when
        needed = np.concatenate([[carried], taken]) if carried else taken
        begun = _begin(first, needed)
        beyond = int(begun[-1] + needed[-1] - duration) if len(begun) else 0
        if beyond <= carried:
            break
        carried = beyond
    else:
        raise InputError(f"{where}: its sources leave hardly any time, and do not settle")
    return _merged(begun, needed, duration)


def _begin(when: npt.NDArray[np.int64], needed: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The start of each: its arrival, or the end of the one before (Lindley): a running maximum of arrival - work."""
    before = np.cumsum(needed) - needed
    begun: npt.NDArray[np.int64] = np.maximum.accumulate(when - before) + before
    return begun


def _merged(
    begun: npt.NDArray[np.int64], needed: npt.NDArray[np.int64], duration: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    if len(begun) == 0:
        return begun, needed
    ends = begun + needed
    new = np.concatenate([[True], begun[1:] > ends[:-1]])
    last = np.concatenate([np.flatnonzero(new)[1:] - 1, [len(begun) - 1]])
    starts = begun[new]
    return starts, np.minimum(ends[last], duration) - starts


def end_to_end(cores: Sequence[Detours], phase: str = "random") -> Noise:
    """The cores' detours one after the other in one period, as the simulator takes them. Raises InputError for none."""
    if not cores:
        raise InputError("noise: expected at least one core")
    if sum(core.duration for core in cores) >= 2**63:
        raise InputError("noise: expected recordings of at most 106 days in all cores together")
    offsets = np.concatenate([[0], np.cumsum([core.duration for core in cores])])
    starts = [core.starts + offset for core, offset in zip(cores, offsets[:-1].tolist(), strict=True)]
    return Noise(np.concatenate(starts), np.concatenate([core.lengths for core in cores]), int(offsets[-1]), phase)
