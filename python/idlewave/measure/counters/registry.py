"""All sources of counters: those of Idlewave, and the plug-ins of other packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points

from ...errors import UsageError
from ...formatting import unknown_name
from .growth import growths
from .protocols import Retransmissions
from .source import Counter, CounterSource, identities
from .sysfs import InfiniBand, NetworkInterfaces, Slingshot
from .tools import Ethtool, Libfabric, Papi, Ucx

GROUP = "idlewave.counters"
"""The group of entry points of plug-ins."""
MOST_COUNTERS = 4096
"""So many counters are recorded; further ones are not."""
NONE = "none"
OWN: dict[str, Callable[[], CounterSource]] = {
    source.name: source
    for source in (NetworkInterfaces, Ethtool, InfiniBand, Slingshot, Retransmissions, Ucx, Libfabric, Papi)
}
"""The sources of Idlewave, by name."""


def source_names() -> list[str]:
    """The names of all sources that can be asked for, plug-ins included."""
    return [*OWN, *(entry.name for entry in entry_points(group=GROUP) if entry.name not in OWN)]


def find_sources(names: Sequence[str] | None = None) -> tuple[list[CounterSource], list[str]]:
    """The sources of these names (None: all), and sentences about plug-ins that cannot be used. Raises UsageError for a
    name that there is not."""
    known = source_names()
    if names is not None:
        names = [] if list(names) == [NONE] else names
        for name in names:
            if name not in known:
                raise UsageError(unknown_name("source of counters", name, known))
    wanted = known if names is None else [name for name in known if name in names]
    notes: list[str] = []
    sources: list[CounterSource] = [OWN[name]() for name in wanted if name in OWN]
    for entry in entry_points(group=GROUP):
        if entry.name not in wanted or entry.name in OWN:
            continue
        try:
            source = entry.load()()
            if not isinstance(source, CounterSource):
                raise TypeError("it has no name, discover and read")
        except Exception as error:  # whatever a plug-in does
            notes.append(f"The plug-in {entry.name} for counters, {entry.value}, cannot be used: {error}.")
        else:
            sources.append(source)
    return sources, notes


@dataclass
class _Reading:
    values: dict[str, int]
    devices: dict[str, object]


@dataclass
class _Followed:
    """A source that has counters, and how they were when it was last read."""

    source: CounterSource
    known: dict[str, Counter]
    before: _Reading | None = None


@dataclass
class CounterReader:
    """Reads sources at boundaries, and says by how much each counter grew since the last one.

    Names of counters are `source.counter`. A source that fails is not asked again, which is in `notes`.
    """

    sources: list[CounterSource]
    notes: list[str] = field(default_factory=list)
    _followed: list[_Followed] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)

    def discover(self) -> dict[str, tuple[str, Counter]]:
        """The counters that are there, with the name of their source, by full name."""
        found: dict[str, tuple[str, Counter]] = {}
        self._followed = []
        for source in self.sources:
            try:
                known = dict(source.discover())
            except Exception as error:  # whatever a plug-in does
                self._give_up(source, error)
                continue
            self._followed.append(_Followed(source, known))
            found |= {f"{source.name}.{name}": (source.name, counter) for name, counter in known.items()}
        if len(found) > MOST_COUNTERS:
            self._say_too_many()
            found = dict(list(found.items())[:MOST_COUNTERS])
        self._names = set(found)
        return found

    def read(self) -> dict[str, float]:
        """By how much each counter grew since the last call; NaN if that is not known, and at the first call."""
        grown: dict[str, float] = {}
        for followed in list(self._followed):
            source = followed.source
            try:
                now = _Reading(dict(source.read()), dict(identities(source)))
            except Exception as error:  # as above
                self._give_up(source, error)
                self._followed.remove(followed)
                continue
            before = followed.before or _Reading({}, {})
            replaced = {name for name, which in now.devices.items() if before.devices.get(name, which) != which}
            beginnings = tuple(f"{name}." for name in replaced)
            same = {name: value for name, value in before.values.items() if not name.startswith(beginnings)}
            own = growths(same, now.values, followed.known)
            grown |= {f"{source.name}.{name}": value for name, value in own.items()}
            followed.before = now
        return self._limited(grown)

    def _limited(self, grown: dict[str, float]) -> dict[str, float]:
        new = grown.keys() - self._names
        if not new:
            return grown
        free = MOST_COUNTERS - len(self._names)
        if len(new) > free:
            self._say_too_many()
        self._names |= set(sorted(new)[: max(free, 0)])
        return {name: value for name, value in grown.items() if name in self._names}

    def _give_up(self, source: CounterSource, error: Exception) -> None:
        self.notes.append(f"The source {source.name} of counters failed, and was not asked again: {error}.")

    def _say_too_many(self) -> None:
        sentence = f"There are more than {MOST_COUNTERS} counters; the others are not recorded."
        if sentence not in self.notes:
            self.notes.append(sentence)
