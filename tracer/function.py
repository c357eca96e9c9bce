"""A row of the table of wrapped functions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """One MPI function, by its name without ``MPI_``."""

    name: str
    arguments: str
    record: str = ""
    before: str = ""
    despite_errors: bool = False
    """Is recorded although it has failed: other ranks of a call that all make together may have succeeded."""
    frees_handle: bool = False
    """Is recorded before the call if threads may call MPI at once: another one may get and record the handle first."""
    large: bool = False
    """Has a large-count form (``_c``) since MPI 4."""
    condition: str = ""
    """A preprocessor condition under which the function exists."""
    fortran_names: tuple[str, ...] = ()
    """Endings of further Fortran names of the function."""


MPI_4 = "MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)"
