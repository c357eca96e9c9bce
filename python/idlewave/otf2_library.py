"""The library of OTF2, with its Python bindings."""

from __future__ import annotations

from typing import Any, TypeAlias

from .errors import LibraryError

Library: TypeAlias = Any  # the bindings of OTF2 have no types


def load_library() -> Library:
    """The bindings of OTF2. Raises LibraryError if they are not installed."""
    try:
        import _otf2
    except (ImportError, OSError) as error:
        raise LibraryError("an OTF2 archive", "otf2", error) from error
    return _otf2
