"""The folder of a measurement: after an interrupt or a failure it keeps what was recorded."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from ..termination_signals import ended_by_signals
from .terminal import errors


@contextmanager
def recording_folder(folder: Path | None, shown_by: Mapping[str, str], *, whole: bool = False) -> Iterator[Path]:
    """The folder to record into: `folder`, or a temporary one that is deleted at the end of the block.

    If an interrupt or an error, such as a failed fit, ends the block, the recorded files stay there, and a line says
    where. `shown_by` has for a pattern of file names the command that shows their folder; or, of a recording that is
    `whole`, the folder to record into.
    """
    place = folder or Path(mkdtemp(prefix="idlewave-"))
    before = _recorded(place, shown_by)
    kept: dict[Path, str] = {}
    try:
        with ended_by_signals():
            yield place
    except BaseException:
        kept = {
            (place if whole else file.parent): shown_by[p]
            for (p, file), at in _recorded(place, shown_by).items()
            if before.get((p, file)) != at
        }
        for found, command in kept.items():
            errors.print(f"kept: {found}; to show it: {command} {shlex.quote(str(found))}")
        raise
    finally:
        if folder is None and not kept:
            shutil.rmtree(place, ignore_errors=True)


def _recorded(place: Path, patterns: Mapping[str, str]) -> dict[tuple[str, Path], int]:
    """The time when each file was written, by pattern and file."""
    return {(pattern, file): file.stat().st_mtime_ns for pattern in patterns for file in place.glob(pattern)}
