"""The [noise] table of a machine.toml (docs/model.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .noise import (
    REACHES,
    AnyNoise,
    DetourLength,
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    LognormalLength,
    MixedNoise,
    Noise,
    ParetoLength,
    PoissonNoise,
    UniformLength,
    as_times,
    read_detours,
)
from .tables import Tables
from .units import PICOSECONDS

if TYPE_CHECKING:
    from .noise import Times


class NoiseTable(Tables):
    """Reads a machine's [noise] table."""

    def noise(self, table: dict[str, Any]) -> tuple[AnyNoise | None, tuple[str, ...]]:
        """The noise of a machine's `table` (None without one), and what of a CPU's work it reaches."""
        if "noise" not in table:
            return None, REACHES
        noise = dict(self.table(table, "noise", "noise", required=True))
        reaches = self._reaches(noise.pop("reaches", list(REACHES)))
        kind = noise.pop("kind", None)
        if kind == "none":
            self.only(noise, "noise", set())
            return None, reaches
        if kind == "mixture":
            return self._mixture(noise), reaches
        return self._source(noise, kind, "noise", "none, trace, periodic, poisson, mixture"), reaches

    def _source(self, noise: dict[str, Any], kind: object, where: str, kinds: str) -> Noise | PoissonNoise:
        if kind == "periodic":
            self.only(noise, where, {"period", "length", "phase"})
            period, length = (self.time_of(noise, key, where) for key in ("period", "length"))
            return Noise(as_times([0]), as_times([length]), period, self._phase(noise))
        if kind == "trace":
            self.only(noise, where, {"file", "period", "phase"})
            starts, lengths = self._detours(noise, where)
            return Noise(starts, lengths, self.time_of(noise, "period", where), self._phase(noise))
        if kind == "poisson":
            return self._poisson(noise, where)
        return self.fail(f"{where}.kind", f"one of {kinds}", kind)

    def _mixture(self, noise: dict[str, Any]) -> AnyNoise:
        self.only(noise, "noise", {"phase", "source"})
        phase = noise.get("phase", "random")
        if phase not in ("random", "same"):
            self.fail("noise.phase", "random or same", phase)
        rows = noise.get("source")
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            self.fail("noise.source", "tables [[noise.source]]", rows)
        sources = []
        for i, row in enumerate(rows):
            where, table = f"noise.source[{i}]", dict(row)
            if "phase" in table:
                self.fail(f"{where}.phase", "one phase for all sources, noise.phase", table["phase"])
            kind = table.pop("kind", None)
            sources.append(self._source({**table, "phase": phase}, kind, where, "trace, periodic, poisson"))
        traces = [source for source in sources if isinstance(source, Noise)]
        random = tuple(source for source in sources if isinstance(source, PoissonNoise))
        if len(traces) > 1:
            self.fail("noise.source", "at most one trace or periodic source", f"{len(traces)} of them")
        if not random:
            return traces[0]
        quiet = Noise(as_times([]), as_times([]), PICOSECONDS["s"], phase)
        return MixedNoise(traces[0] if traces else quiet, random)

    def _reaches(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(part in REACHES for part in value):
            self.fail("noise.reaches", f"a list of some of {', '.join(REACHES)}", value)
        return tuple(value)

    def _poisson(self, noise: dict[str, Any], where: str) -> PoissonNoise:
        self.only(noise, where, {"rate", "interval", "length", "phase"})
        if ("rate" in noise) == ("interval" in noise):
            self.fail(f"{where}.interval", "either a time, interval, or detours a second, rate", noise.get("rate"))
        if "rate" in noise:
            interval = PICOSECONDS["s"] / self.positive(noise, "rate", where)
        else:
            interval = float(self.time_of(noise, "interval", where))
        if not PICOSECONDS["ns"] <= interval < 2**62:
            key = "rate" if "rate" in noise else "interval"
            self.fail(f"{where}.{key}", "1 ns or more, and less than 50 days, from one detour to the next", noise[key])
        phase = noise.get("phase", "random")
        if phase not in ("random", "same"):
            self.fail("noise.phase", "random or same", phase)
        return PoissonNoise(interval, self._detour_length(noise.get("length"), f"{where}.length"), phase)

    def _detour_length(self, value: object, where: str) -> DetourLength:
        if isinstance(value, str):
            return FixedLength(self.quantity(value, where, cost=False))
        if not isinstance(value, dict):
            self.fail(where, "a time, or a table with a distribution", value)
        law = dict(value)
        kind = law.pop("distribution", None)
        keys = {
            "exponential": {"mean", "min"},
            "uniform": {"min", "max"},
            "lognormal": {"median", "sigma"},
            "pareto": {"min", "alpha"},
            "empirical": {"file"} if "file" in law else {"lengths"},
        }
        if not isinstance(kind, str) or kind not in keys:
            self.fail(f"{where}.distribution", f"one of {', '.join(keys)}", kind)
        self.only(law, where, keys[kind])
        if kind == "empirical":
            return self._empirical(law, where)
        if kind == "uniform":
            least, most = self.time_of(law, "min", where), self.time_of(law, "max", where)
            if most < least:
                self.fail(f"{where}.max", "a time no less than min", law["max"])
            return UniformLength(least, most)
        if kind == "exponential":
            mean = float(self.time_of(law, "mean", where))
            bound = float(self.time_of(law, "min", where)) if "min" in law else 0.0
            if bound > mean:
                self.fail(f"{where}.min", "a time no more than mean", law["min"])
            return ExponentialLength(mean, bound)
        key = "median" if kind == "lognormal" else "min"
        scale = float(self.time_of(law, key, where))
        if scale == 0:
            self.fail(f"{where}.{key}", "a time above 0", law[key])
        if kind == "lognormal":
            return LognormalLength(scale, self.positive(law, "sigma", where))
        return ParetoLength(scale, self.positive(law, "alpha", where))

    def _empirical(self, law: dict[str, Any], where: str) -> EmpiricalLength:
        if "file" in law:
            lengths = self._detours(law, where)[1]
            if len(lengths) == 0:
                self.fail(f"{where}.file", "a file with at least one detour", law["file"])
            return EmpiricalLength(lengths)
        listed = law.get("lengths")
        if not isinstance(listed, list) or not listed:
            self.fail(f"{where}.lengths", "a list of times, or file, a CSV file of detours", listed)
        times = [self.quantity(value, f"{where}.lengths[{i}]", cost=False) for i, value in enumerate(listed)]
        return EmpiricalLength(as_times(times))

    def _detours(self, table: dict[str, Any], where: str) -> tuple[Times, Times]:
        file = table.get("file")
        if not isinstance(file, str):
            self.fail(f"{where}.file", "the name of a CSV file of detours", file)
        return read_detours(self.folder / file)

    def _phase(self, noise: dict[str, Any]) -> str | tuple[int, ...]:
        phase = noise.get("phase", "random")
        if phase in ("random", "same"):
            return str(phase)
        if isinstance(phase, list) and phase:
            return tuple(self.quantity(value, f"noise.phase[{i}]", cost=False) for i, value in enumerate(phase))
        return self.fail("noise.phase", "random, same, or a list of times", phase)
