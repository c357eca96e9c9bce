"""Where recordings over time and tables of contention were made: whether that is the measured machine, and what they
are as sources of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..digests import digest_of_table
from ..escaping import cut, quote
from ..formatting import join_words
from ..host_environment import provenance_of
from ..provenance import Provenance
from .consistency import CONTENTION, MACHINE, OVERTIME, Consistency

if TYPE_CHECKING:
    from ..contention.analysis import ContentionAnalysis
    from ..measure import Measurement
    from ..overtime.analysis import Analysis


@dataclass(frozen=True)
class Place:
    """Where a part was made: its name in sentences, its topic, its hosts and processor, as far as they are known."""

    name: str
    topic: str
    hosts: frozenset[str]
    processor: str


def add_places(
    found: Consistency,
    measurement: Measurement | None,
    overtime: Analysis | None,
    contention: ContentionAnalysis | None,
) -> None:
    """Compare each part with the first one before it whose place is known.

    Another processor is a contradiction; another host is a note, as it may be another node of one machine.
    """
    places = [place for place in _places(measurement, overtime, contention) if place.hosts or place.processor]
    for number, place in enumerate(places[1:], start=1):
        first = next((earlier for earlier in places[:number] if earlier.processor), places[0])
        if first.processor and place.processor and first.processor != place.processor:
            found.add(
                place.topic,
                [
                    f"{place.name} was recorded on the processor {quote(place.processor)}, {first.name} on "
                    f"{quote(first.processor)}."
                ],
            )
        elif first.hosts and place.hosts and not first.hosts & place.hosts:
            found.notes.append(f"{place.name} was recorded on {_listed(place)}, {first.name} on {_listed(first)}.")


def _listed(place: Place) -> str:
    return join_words([cut(host) for host in sorted(place.hosts)])


def _places(
    measurement: Measurement | None, overtime: Analysis | None, contention: ContentionAnalysis | None
) -> Iterator[Place]:
    if measurement is not None:
        ranks = measurement.network.probe.get("ranks") or []
        sides = [measurement.network.environment, measurement.noise.environment, *ranks]
        yield _place(str(measurement.folder or measurement.name), MACHINE, sides)
    if overtime is not None:
        said = overtime.recording.said
        hosts = [{"host": host} for host in said.get("hosts") or []]
        yield _place(overtime.recording.name, OVERTIME, [_object(said.get("environment")), *hosts])
    for one in () if contention is None else (contention, contention.remedy):
        if one is not None:
            yield _place(one.name, CONTENTION, [one.environment])


def _place(name: str, topic: str, sides: list[Mapping[str, Any]]) -> Place:
    hosts = frozenset(str(side["host"]) for side in sides if side.get("host"))
    processors = [str(side["processor"]) for side in sides if side.get("processor")]
    return Place(name, topic, hosts, processors[0] if processors else "")


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def source_of_recording(found: Analysis) -> Provenance:
    """A recording over time as a source."""
    made = provenance_of(found.recording.name, _object(found.recording.said.get("environment")))
    return replace(made, name=found.recording.name, digests={"content": digest_of_table(found.recording.table)})


def sources_of_contention(found: ContentionAnalysis) -> list[Provenance]:
    """A table of contention, that of its remedies and the model, as sources."""
    sources = []
    for one in (found, found.remedy):
        if one is not None:
            made = provenance_of(one.name, one.environment)
            sources.append(replace(made, name=one.name, digests={"content": digest_of_table(one.table)}))
    if found.known is not None:
        sources.append(found.known.provenance)
    return sources
