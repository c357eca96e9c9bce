"""The text of a machine.toml, or of a noise.toml, from a Machine.

Whatever writes such a file passes the comments of its own as `comments`: by the key of a table or value, such as
"network", "network.L", "network.segment[0]", "network.segment[0].from", "noise". The comment of a table with single
brackets stands above it, every other comment behind its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..algorithm_rules import AlgorithmRule
from ..cold_caches import ColdCaches
from ..escaping import toml_text
from ..machine import WITHIN, Level, Machine, Parameters, Progress
from ..noise_models import REACHES, AnyNoise, Noise, NoiseOrigin
from ..random_noise import (
    DetourLength,
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    LognormalLength,
    MixedNoise,
    ParetoLength,
    PoissonNoise,
    UniformLength,
)
from ..units import PICOSECONDS, exact_cost, exact_time

if TYPE_CHECKING:
    from ..noise_models import Times
    from ..variation import Variation

    SaveDetours = Callable[[str, Times, Times], None]
    """Writes a file of detours of that name beside the machine.toml: their starts and lengths in ps."""
    SaveText = Callable[[str, str], None]
    """Writes a file of that name and text beside the machine.toml."""

DETOURS = "noise.csv"
"""The file of the detours that repeat."""
FACTORS = "variation.csv"
"""The file of the factors of L and G over time."""
_COMMENT_COLUMN = 20


def machine_toml(
    machine: Machine,
    save_detours: SaveDetours | None = None,
    comments: Mapping[str, str] | None = None,
    save_factors: SaveText | None = None,
) -> str:
    """The text of a machine.toml of `machine`.

    Its noise is written only with `save_detours`, which is called for each file of detours that the text names, and its
    variation only with `save_factors`, which is called for the file of the factors of L and G.
    """
    lines = _Lines(comments or {})
    lines.value("name", toml_text(machine.name))
    if machine.description:
        lines.value("description", toml_text(machine.description))
    lines.table("network")
    if machine.network_name:
        lines.value("name", toml_text(machine.network_name))
    if machine.measured:
        lines.value("measured", toml_text(machine.measured))
    if machine.measured == WITHIN:
        lines.value("ranks", str(machine.node_ranks))
    added = _added(machine)
    _write_level(lines, "network", machine.network, added)
    if machine.node is not None:
        lines.table("network.node")
        lines.value("ranks", str(machine.node_ranks))
        _write_level(lines, "network.node", machine.node, added)
    if machine.shared_buffer is not None:
        lines.table("network.shared_buffer")
        _write_parameters(lines, machine.shared_buffer.parameters, added)
        _write_segments(lines, "network.shared_buffer", machine.shared_buffer, added)
    if machine.one_sided is not None:
        _write_one_sided(lines, machine.one_sided, machine.progress)
    if machine.variation is not None and save_factors is not None:
        _write_variation(lines, machine.variation, save_factors)
    if machine.noise is not None and save_detours is not None:
        _write_noise(lines, machine.noise, machine.noise_reaches, save_detours, machine.noise_origin)
    if machine.cold_caches is not None:
        _write_cold_caches(lines, machine.cold_caches)
    for number, rule in enumerate(machine.algorithm_rules):
        _write_rule(lines, rule, number)
    return lines.text()


def noise_toml(
    noise: AnyNoise,
    save_detours: SaveDetours,
    reaches: Sequence[str] = REACHES,
    comments: Mapping[str, str] | None = None,
) -> str:
    """The text of a noise.toml: the [noise] table alone."""
    lines = _Lines(comments or {})
    _write_noise(lines, noise, reaches, save_detours)
    return lines.text()


def one_sided_toml(level: Level, progress: Progress, comments: Mapping[str, str] | None = None) -> str:
    """The text of the table [network.one_sided] and its segments alone."""
    lines = _Lines(comments or {})
    _write_one_sided(lines, level, progress)
    return lines.text()


class _Lines:
    """The lines of a TOML file, with comments."""

    def __init__(self, comments: Mapping[str, str]) -> None:
        self._comments = comments
        self._lines: list[str] = []
        self._table = ""

    def table(self, name: str) -> None:
        """Begin the table [name]."""
        self._begin(name)
        if name in self._comments:
            self._lines += (f"# {line}" for line in self._comments[name].splitlines())
        self._lines.append(f"[{name}]")

    def item(self, name: str, number: int) -> None:
        """Begin the table of that number in the list of tables [[name]]."""
        self._begin(f"{name}[{number}]")
        self._lines.append(self._commented(f"[[{name}]]", self._table))

    def value(self, key: str, value: str) -> None:
        """Write a key of the table and its value, which is TOML."""
        path = f"{self._table}.{key}" if self._table else key
        self._lines.append(self._commented(f"{key} = {value}", path))

    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines) + "\n"

    def _begin(self, table: str) -> None:
        self._table = table
        if self._lines:
            self._lines.append("")

    def _commented(self, line: str, path: str) -> str:
        comment = self._comments.get(path)
        return line if comment is None else f"{line.ljust(_COMMENT_COLUMN - 1)} # {comment}"


def _added(machine: Machine) -> list[str]:
    """The parameters beyond LogGOPS that are not 0 somewhere: then each segment says them, since what is not named
    stays as before."""
    levels = [level for level in (machine.network, machine.node, machine.shared_buffer) if level is not None]
    sets = [p for level in levels for p in (level.parameters, *(s.parameters for s in level.segments))]
    return [name for name in ("c", "o_p") if any(getattr(p, name) for p in sets)]


def _write_level(lines: _Lines, table: str, level: Level, added: Sequence[str]) -> None:
    _write_parameters(lines, level.parameters, added)
    lines.value("S", '"inf"' if level.eager_limit is None else str(level.eager_limit))
    _write_segments(lines, table, level, added)


def _write_segments(lines: _Lines, table: str, level: Level, added: Sequence[str]) -> None:
    for number, segment in enumerate(level.segments):
        lines.item(f"{table}.segment", number)
        lines.value("from", str(segment.start))
        _write_parameters(lines, segment.parameters, added)


def _write_parameters(lines: _Lines, p: Parameters, added: Sequence[str]) -> None:
    for name in ("L", "o_s", "o_r", "g"):
        lines.value(name, f'"{exact_time(getattr(p, name))}"')
    cpu = {"O": p.O_s} if p.O_s == p.O_r else {"O_s": p.O_s, "O_r": p.O_r}
    for name, cost in {"G": p.G, **cpu}.items():
        lines.value(name, f'"{exact_cost(cost)}"')
    for name in added:
        lines.value(name, f'"{exact_time(getattr(p, name))}"')


def _write_one_sided(lines: _Lines, level: Level, progress: Progress) -> None:
    lines.table("network.one_sided")
    lines.value("progress", toml_text(progress))
    names = ("L", "o_s", "g", "G", "O_s") if progress == "network" else ("L", "o_s", "o_r", "g", "G", "O_s", "O_r")

    def write(p: Parameters) -> None:
        for name in names:
            exact = exact_cost if name in ("G", "O_s", "O_r") else exact_time
            lines.value(name, f'"{exact(getattr(p, name))}"')

    write(level.parameters)
    for number, segment in enumerate(level.segments):
        lines.item("network.one_sided.segment", number)
        lines.value("from", str(segment.start))
        write(segment.parameters)


def _write_variation(lines: _Lines, variation: Variation, save_factors: SaveText) -> None:
    save_factors(FACTORS, variation.csv())
    lines.table("network.variation")
    lines.value("file", f'"{FACTORS}"')
    if variation.period is not None:
        lines.value("period", _time(variation.period))
    if variation.recorded:
        lines.value("from", toml_text(variation.recorded))


def _write_rule(lines: _Lines, rule: AlgorithmRule, number: int) -> None:
    lines.item("collective", number)
    lines.value("name", toml_text(rule.collective))
    lines.value("algorithm", toml_text(rule.algorithm))
    lines.value("ranks", str(rule.ranks))
    lines.value("from", str(rule.bytes))
    if rule.segment != AlgorithmRule(rule.collective, rule.algorithm).segment:
        lines.value("segment", str(rule.segment))
    ns = PICOSECONDS["ns"]
    costs = {"reduction_cost": rule.reduction_cost * ns, "call_per_byte": rule.call_ns_per_byte * ns}
    if rule.call_ns:
        lines.value("call", f'"{exact_time(round(rule.call_ns * ns))}"')
    for name, cost in costs.items():
        if cost:
            lines.value(name, f'"{exact_cost(cost)}"')
    if rule.residual is not None:
        lines.value("residual", repr(float(rule.residual)))
    for name in ("of_library", "of_all_ranks", "fallback"):
        if getattr(rule, name):
            lines.value(name, "true")


def _write_cold_caches(lines: _Lines, costs: ColdCaches) -> None:
    lines.table("cold_caches")
    lines.value("buffer_after", _time(costs.buffer_after))
    for number, (after, time) in enumerate(costs.calls):
        lines.item("cold_caches.call", number)
        lines.value("after", _time(after))
        lines.value("time", _time(time))
    for number, (size, time) in enumerate(costs.buffers):
        lines.item("cold_caches.buffer", number)
        lines.value("size", str(size))
        lines.value("time", _time(time))


def _write_noise(
    lines: _Lines,
    noise: AnyNoise,
    reaches: Sequence[str],
    save_detours: SaveDetours,
    origin: NoiseOrigin | None = None,
) -> None:
    lines.table("noise")
    if origin is not None and origin.host:
        lines.value("host", toml_text(origin.host))
    if origin is not None and origin.core_wait_share is not None:
        lines.value("core_wait_share", repr(float(origin.core_wait_share)))
    if tuple(reaches) != REACHES:
        lines.value("reaches", str(list(reaches)))
    if isinstance(noise, Noise):
        _write_trace(lines, noise, save_detours)
        lines.value("phase", _phase(noise.phase))
    elif isinstance(noise, PoissonNoise):
        _write_random(lines, noise, 0, save_detours)
        lines.value("phase", _phase(noise.phase))
    else:
        _write_mixture(lines, noise, save_detours)


def _write_mixture(lines: _Lines, noise: MixedNoise, save_detours: SaveDetours) -> None:
    lines.value("kind", '"mixture"')
    lines.value("phase", _phase(noise.trace.phase))
    lines.item("noise.source", 0)
    _write_trace(lines, noise.trace, save_detours)
    for number, source in enumerate(noise.random):
        lines.item("noise.source", number + 1)
        _write_random(lines, source, number, save_detours)


def _write_trace(lines: _Lines, noise: Noise, save_detours: SaveDetours) -> None:
    save_detours(DETOURS, noise.starts, noise.lengths)
    lines.value("kind", '"trace"')
    lines.value("file", f'"{DETOURS}"')
    lines.value("period", f'"{exact_time(noise.period)}"')


def _write_random(lines: _Lines, noise: PoissonNoise, number: int, save_detours: SaveDetours) -> None:
    lines.value("kind", '"poisson"')
    lines.value("interval", _time(noise.interval))
    lines.value("length", _length(noise.length, f"lengths-{number}.csv", save_detours))


def _phase(phase: str | tuple[int, ...]) -> str:
    return f'"{phase}"' if isinstance(phase, str) else f"[{', '.join(_time(time) for time in phase)}]"


def _length(law: DetourLength, file: str, save_detours: SaveDetours) -> str:
    """The law of detours' lengths as a value of TOML; measured lengths go to `file`."""
    if isinstance(law, FixedLength):
        return _time(law.length)
    if isinstance(law, EmpiricalLength):
        ends = law.lengths.cumsum()
        save_detours(file, ends - law.lengths, law.lengths)
    return f"{{ {', '.join(f'{key} = {value}' for key, value in _law(law, file))} }}"


def _law(law: DetourLength, file: str) -> Iterator[tuple[str, str]]:
    """The keys of the table of a law, and their values."""
    yield "distribution", f'"{type(law).__name__.removesuffix("Length").lower()}"'
    if isinstance(law, EmpiricalLength):
        yield "file", f'"{file}"'
    elif isinstance(law, ExponentialLength):
        yield from (("mean", _time(law.mean)), ("min", _time(law.min)))
    elif isinstance(law, LognormalLength):
        yield from (("median", _time(law.median)), ("sigma", repr(law.sigma)))
    elif isinstance(law, ParetoLength):
        yield from (("min", _time(law.min)), ("alpha", repr(law.alpha)))
    elif isinstance(law, UniformLength):
        yield from (("min", _time(law.min)), ("max", _time(law.max)))


def _time(picoseconds: float) -> str:
    return f'"{exact_time(round(picoseconds))}"'
