"""Provenance of schedules and traces that is computed when it is first needed."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .algorithm_rules import AlgorithmRule, described
from .cold_caches import ColdCaches
from .cold_caches import described as cold_caches_described
from .digests import Files, digest_of, digest_of_files, digest_of_schedule, plain
from .errors import InputError
from .parameters import parameters_of
from .pattern_options import ConversionParameters, TraceParameters
from .provenance import Provenance

if TYPE_CHECKING:
    from .jobs import Job

LONGEST_OPTIONS = 4000
"""Characters of options that are listed; longer options are kept as a digest only."""


class LazyProvenance:
    """Provenance that `make` computes when it is first needed, because the digest of a large file takes long.

    It does not keep the artefact itself in memory.
    """

    def __init__(self, make: Callable[[], Provenance], *, on_one_thread: bool = False) -> None:
        """`on_one_thread`: that is all that `make` needs, so that it may compute beside something else."""
        self._make = make
        self._on_one_thread = on_one_thread
        self._thread: threading.Thread | None = None
        self._found: Provenance | None = None

    def begin(self) -> None:
        """Compute it in a thread, beside what the caller does next, if it needs only that.

        `provenance` then waits for the rest; the end of the process does not.
        """
        if self._thread is None and self._on_one_thread:
            thread = threading.Thread(target=self._find, name="provenance", daemon=True)
            with suppress(RuntimeError):  # there may be no further thread
                thread.start()
                self._thread = thread

    def _find(self) -> None:
        with suppress(Exception):  # `provenance` then computes it again, where the caller sees the error
            self._found = self._make()

    @cached_property
    def provenance(self) -> Provenance:
        """The provenance; its option "unknown" says if files were removed or changed meanwhile."""
        if self._thread is not None:
            self._thread.join()
        return self._found or self._make()


def of_file(name: str, files: Files) -> LazyProvenance:
    """Of a schedule in a file; the provenance in GOAL text is its source, if the text was not changed since."""

    def make() -> Provenance:
        with files.paths[0].open("rb") as file:
            return _of_stream(name, file)

    return LazyProvenance(lambda: _unless_changed("schedule", name, files, make), on_one_thread=True)


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
            content = content._replace(sealed=False)
    edited = {"edited": True} if content.comment and not content.sealed else {}
    return Provenance("schedule", name, {"content": content.digest}, edited, sources)


def rank_files(directory: Path) -> list[Path]:
    """The files of the ranks of a trace, from which its schedule is made. Empty if the folder cannot be listed."""
    try:
        return sorted(directory.glob("*.iwtrace"))
    except OSError:
        return []


def of_recorded_trace(directory: Path, files: Files, recorded: Provenance) -> LazyProvenance:
    """Of a trace; `recorded` is the provenance in trace.json.

    The option "changed" says if the files of the ranks do not have the digest in it.
    """
    name = str(directory)

    def make() -> Provenance:
        content = digest_of_files(directory, files.paths)
        changed = {"changed": True} if recorded.digests.get("content", content) != content else {}
        return replace(recorded, name=name, digests={"content": content}, options={**recorded.options, **changed})

    return LazyProvenance(lambda: _unless_changed("trace", name, files, make))


def of_trace(
    name: str,
    trace: LazyProvenance,
    algorithms: Mapping[str, str],
    rules: Sequence[AlgorithmRule],
    cold_caches: ColdCaches | None,
    given: TraceParameters,
) -> LazyProvenance:
    """Of the schedule that is made from a trace."""

    def make() -> Provenance:
        source = trace.provenance
        options = {"algorithms": dict(algorithms), "reduction_cost": float(given["reduction_cost"])}
        options |= described(rules) | cold_caches_described(cold_caches)
        for option, (_, parameter) in parameters_of(ConversionParameters).items():
            value = given[option]  # type: ignore[literal-required]
            options |= {} if value == parameter.default else {option: value}
        return _derived(name, (source,), options)

    return LazyProvenance(make)


def of_extrapolation(name: str, base: LazyProvenance, ranks: int) -> LazyProvenance:
    """Of a schedule that is extrapolated from another one."""
    return LazyProvenance(lambda: _derived(name, (base.provenance,), {"ranks": ranks}))


def of_structure(name: str, runs: Sequence[LazyProvenance], options: dict[str, Any]) -> LazyProvenance:
    """Of a schedule that is continued by the structure of several runs."""
    return LazyProvenance(lambda: _derived(name, tuple(run.provenance for run in runs), options))


def _derived(name: str, sources: tuple[Provenance, ...], options: dict[str, Any]) -> Provenance:
    for source in sources:
        if "content" not in source.digests:
            unknown = {"unknown": source.options["unknown"]}
            return Provenance("schedule", name, options=options | unknown, sources=sources)
    contents = [source.digests["content"] for source in sources]
    digests = {"content": digest_of({"source": contents[0] if len(contents) == 1 else contents, "options": options})}
    return Provenance("schedule", name, digests, options, sources)


def of_jobs(name: str, jobs: Sequence[Job], ranks: int, rules: Sequence[AlgorithmRule] = ()) -> LazyProvenance:
    """Of a pattern, or of several jobs beside each other."""
    listed = list(jobs)

    def make() -> Provenance:
        digest = digest_of({"jobs": plain(listed), "ranks": ranks} | described(rules))
        options: dict[str, Any] = (
            {"jobs": [_without_defaults(job) for job in listed]}
            | ({"ranks": ranks} if ranks else {})
            | described(rules)
        )
        if len(str(options)) > LONGEST_OPTIONS:
            options = {"jobs": f"{len(listed)}, too long to be listed"}
        return Provenance("schedule", name, {"content": digest}, options)

    return LazyProvenance(make)


def _without_defaults(value: object) -> Any:  # noqa: ANN401 - a value of JSON
    """As `plain`, without fields that have their default."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            item.name: _without_defaults(getattr(value, item.name))
            for item in fields(value)
            if not _is_default(item, value)
        }
    if isinstance(value, list | tuple):
        return [_without_defaults(item) for item in value]
    return plain(value)


def _is_default(item: Field[Any], value: object) -> bool:
    default = item.default_factory() if item.default_factory is not MISSING else item.default
    return bool(default is not MISSING and plain(getattr(value, item.name)) == plain(default))


def _unless_changed(kind: str, name: str, files: Files, make: Callable[[], Provenance]) -> Provenance:
    """The result of `make`, if the files were unchanged before and after it; else a provenance with the problem."""
    problem, found = files.problem(), None
    if not problem:
        try:
            found, problem = make(), files.problem()
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}"
    if problem or found is None:
        return Provenance(kind, name, options={"unknown": problem})
    return found
