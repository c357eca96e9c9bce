"""The library of OTF2, with its Python bindings: the functions of C, and the package that reads and writes archives."""

from __future__ import annotations

from typing import Any, TypeAlias

from .errors import LibraryError

Library: TypeAlias = Any  # the bindings of OTF2 have no types


def load_library() -> Library:
    """The functions of C, as the bindings have them. Raises LibraryError if they are not installed."""
    try:
        import _otf2
    except (ImportError, OSError) as error:
        raise LibraryError("an OTF2 archive", "otf2", error) from error
    return _otf2


def load_package() -> Library:
    """The package otf2 itself. Raises LibraryError if it is not installed."""
    try:
        import otf2
    except (ImportError, OSError) as error:
        raise LibraryError("an OTF2 archive", "otf2", error) from error
    return otf2
