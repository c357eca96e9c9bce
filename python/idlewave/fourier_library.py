"""The library of the Fourier transforms in `examples/ft`: FFTW, or in its absence pocketfft."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import MpiError
from .escaping import quote
from .pkg_config import pkg_config

VARIABLE = "IDLEWAVE_FFTW"
"""Names the folder in which FFTW is installed, or one with pocketfft.c."""


@dataclass(frozen=True)
class FourierLibrary:
    """What is compiled and linked for a library: the file of the example that calls it, and flags."""

    source: str
    flags: tuple[str, ...]
    libraries: tuple[str, ...] = ()


def find(environment: Mapping[str, str] = os.environ) -> FourierLibrary:
    """What is in the folder that the variable names; else FFTW as pkg-config finds it; else pocketfft of the set-up.

    Raises MpiError if the folder has none of them, or if nothing is found.
    """
    named = environment.get(VARIABLE)
    if named:
        return _in_folder(Path(named).absolute())
    flags = pkg_config("fftw3", "IDLEWAVE_FFTW_VERSION")
    if flags is not None:
        libraries = tuple(flag for flag in flags if flag.startswith(("-l", "-L")))
        return FourierLibrary("line_transform_fftw.cpp", tuple(f for f in flags if f not in libraries), libraries)
    found = _pocketfft(pocketfft_folder())
    if found is None:
        raise MpiError(
            "neither FFTW nor pocketfft was found for the Fourier transforms: install FFTW (Debian: libfftw3-dev and "
            f"pkg-config), or name its folder with {VARIABLE}"
        )
    return found


def pocketfft_folder() -> Path:
    """Where the set-up stores the source of pocketfft: in this Python's environment."""
    return Path(sys.prefix) / "include" / "pocketfft"


def _in_folder(folder: Path) -> FourierLibrary:
    header = folder / "include" / "fftw3.h"
    names = ("libfftw3.so", "libfftw3.a")
    found = [file for name in names for place in ("lib*", "lib/*") for file in sorted(folder.glob(f"{place}/{name}"))]
    if not header.is_file() or not found:
        pocketfft = _pocketfft(folder)
        if pocketfft is None:
            raise MpiError(
                f"{VARIABLE} names {quote(folder)}: expected include/fftw3.h and lib/libfftw3.so there, or pocketfft.c"
            )
        return pocketfft
    where = found[0].parent
    # As a system's header, whose warnings are not ours.
    return FourierLibrary(
        "line_transform_fftw.cpp", ("-isystem", str(header.parent)), (f"-L{where}", f"-Wl,-rpath,{where}", "-lfftw3")
    )


def _pocketfft(folder: Path) -> FourierLibrary | None:
    if not (folder / "pocketfft.c").is_file():
        return None
    return FourierLibrary("line_transform_pocketfft.cpp", ("-isystem", str(folder)))
