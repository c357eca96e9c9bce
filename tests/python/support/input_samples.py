"""Valid contents of files, and how they are changed and read, for tests of what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import reader_fuzz

NETWORK = '[network]\nL = "5.3us"\no = "2.3us"\ng = "2us"\nG = "2.5ns"\nO = "1ns"\nS = 65536\n'
ESCAPES = "\x1b[31m\u202e\x07"
"""What acts on a terminal."""
STUDY = pd.DataFrame(
    {
        "ranks": [4, 4],
        "noise": [False, True],
        "seed": [0, 1],
        "finish_ps": [10, 12],
        "messages": [3, 3],
        "seconds": [0.1, 0.1],
    }
)


def changed(folder: Path, file: str, *path: str | int, to: object) -> None:
    """Set one value of a file of JSON."""
    said = json.loads((folder / file).read_text())
    place = said
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    (folder / file).write_text(json.dumps(said))


def read_of(name: str) -> Callable[[Path], object]:
    """What reads a folder as the reader of that name in reader_fuzz does."""
    return next(reader for reader in reader_fuzz.READERS if reader.name == name).read
