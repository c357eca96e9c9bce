"""What schedules and traces were made of, and that as provenance once somebody asks for it."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .digests import Files, digest_of, digest_of_files, digest_of_schedule, plain
from .errors import InputError
from .provenance import Provenance

if TYPE_CHECKING:
    from .jobs import Job

LONGEST_OPTIONS = 4000
"""Characters of options that are listed; of longer ones the digest alone is kept."""


class LazyProvenance:
    """What something was made of, without the thing itself, so that it takes no memory.

    What it takes long to find out, such as the digest of a large file, is found out when it is first asked for.
    """

    def __init__(self, tell: Callable[[], Provenance]) -> None:
        self._tell = tell

    @cached_property
    def provenance(self) -> Provenance:
        """That as provenance; where files have gone or changed meanwhile, its option "unknown" says so."""
        return self._tell()


def of_file(name: str, files: Files) -> LazyProvenance:
    """Of a schedule in a file, and of what GOAL text says of itself, if nobody has changed it since."""

    def tell() -> Provenance:
        with files.paths[0].open("rb") as file:
            return _of_stream(name, file)

    return LazyProvenance(lambda: _unless_changed("schedule", name, files, tell))


def of_text(name: str, text: str) -> LazyProvenance:
    """Of a schedule that is GOAL text."""
    found = _of_stream(name, io.BytesIO(text.encode()))
    return LazyProvenance(lambda: found)


def _of_stream(name: str, stream: io.BufferedReader | io.BytesIO) -> Provenance:
    content = digest_of_schedule(stream)
    sources: tuple[Provenance, ...] = ()
    if content.sealed:
        try:
            sources = (Provenance.from_json(content.comment, name),)
        except InputError:
            content = replace(content, sealed=False)
    edited = {"edited": True} if content.comment and not content.sealed else {}
    return Provenance("schedule", name, {"content": content.digest}, edited, sources)


def rank_files(directory: Path) -> list[Path]:
    """The files of a trace's ranks: all that its schedule is made of. None where the folder cannot be listed."""
    try:
        return sorted(directory.glob("*.iwtrace"))
    except OSError:
        return []


def of_recorded_trace(directory: Path, files: Files, recorded: Provenance) -> LazyProvenance:
    """Of a trace of which trace.json says `recorded`. If the ranks' files are not those of which that has the digest,
    the option "changed" says so."""
    name = str(directory)

    def tell() -> Provenance:
        content = digest_of_files(directory, files.paths)
        changed = {"changed": True} if recorded.digests.get("content", content) != content else {}
        return replace(recorded, name=name, digests={"content": content}, options={**recorded.options, **changed})

    return LazyProvenance(lambda: _unless_changed("trace", name, files, tell))


def of_trace(name: str, trace: LazyProvenance, algorithms: Mapping[str, str], reduction_cost: float) -> LazyProvenance:
    """Of the schedule that is made of a trace."""

    def tell() -> Provenance:
        source = trace.provenance
        options = {"algorithms": dict(algorithms), "reduction_cost": float(reduction_cost)}
        return _derived(name, source, options)

    return LazyProvenance(tell)


def of_extrapolation(name: str, base: LazyProvenance, ranks: int) -> LazyProvenance:
    """Of a schedule that is extrapolated from another one."""
    return LazyProvenance(lambda: _derived(name, base.provenance, {"ranks": ranks}))


def _derived(name: str, source: Provenance, options: dict[str, Any]) -> Provenance:
    content = source.digests.get("content")
    if content is None:
        return Provenance("schedule", name, options=options | {"unknown": source.options["unknown"]}, sources=(source,))
    digests = {"content": digest_of({"source": content, "options": options})}
    return Provenance("schedule", name, digests, options, (source,))


def of_jobs(name: str, jobs: Sequence[Job], ranks: int) -> LazyProvenance:
    """Of a pattern, or of several beside each other."""
    listed = list(jobs)

    def tell() -> Provenance:
        digest = digest_of({"jobs": plain(listed), "ranks": ranks})
        options: dict[str, Any] = {"jobs": [_said(job) for job in listed]} | ({"ranks": ranks} if ranks else {})
        if len(str(options)) > LONGEST_OPTIONS:
            options = {"jobs": f"{len(listed)}, too long to be listed"}
        return Provenance("schedule", name, {"content": digest}, options)

    return LazyProvenance(tell)


def _said(value: object) -> Any:  # noqa: ANN401 - a value of JSON
    """As `plain`, without what is as it is if nobody says anything."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: _said(getattr(value, item.name)) for item in fields(value) if not _is_default(item, value)}
    if isinstance(value, list | tuple):
        return [_said(item) for item in value]
    return plain(value)


def _is_default(item: Field[Any], value: object) -> bool:
    default = item.default_factory() if item.default_factory is not MISSING else item.default
    return bool(default is not MISSING and plain(getattr(value, item.name)) == plain(default))


def _unless_changed(kind: str, name: str, files: Files, tell: Callable[[], Provenance]) -> Provenance:
    """What `tell` finds in files, if they are what they were before it looked and after."""
    problem, found = files.problem(), None
    if not problem:
        try:
            found, problem = tell(), files.problem()
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}"
    if problem or found is None:
        return Provenance(kind, name, options={"unknown": problem})
    return found
