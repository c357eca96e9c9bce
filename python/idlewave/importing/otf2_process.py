"""The process that reads an OTF2 archive for otf2.py, and writes the files of its ranks.

``python -m idlewave.importing.otf2_process SOURCE FOLDER SECONDS`` writes what was left out, or the error that it met,
pickled to its standard output. It ends by SIGPROF when the library of OTF2 reads nothing in so many seconds of
computing.
"""

from __future__ import annotations

import os
import pickle
import resource
import sys
from contextlib import suppress
from pathlib import Path

from ..memory_limits import limit_address_space, tightest
from .otf2_reader import read_archive


def _limit() -> None:
    """No more memory than this machine, its control groups and its limits allow, and no file with what it had."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        limit_address_space(tightest().left)


def main(source: Path, folder: Path, seconds: float) -> None:
    """Read the archive and end at once: nothing of the library runs any more."""
    answer = os.dup(1)
    os.dup2(2, 1)
    _limit()
    outcome = read_archive(source, folder, seconds)
    with os.fdopen(answer, "wb") as file:
        file.write(pickle.dumps(outcome))
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
