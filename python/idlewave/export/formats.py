"""The file formats of timelines, by the ending of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..output import check_new_folder, write_table

if TYPE_CHECKING:
    import pyarrow as pa

ENDINGS = {
    ".parquet": "table",
    ".pftrace": "Perfetto",
    ".otf2": "OTF2 archive, a folder",
    ".png": "picture",
    ".svg": "picture",
    ".pdf": "picture",
}


def writer_for(path: str | Path) -> Callable[[pa.Table, str], None]:
    """The function that writes recorded ops (`Timeline.ops_to_arrow`) with a title to `path`, in the format of its
    ending.

    It checks at once, before anything is simulated. Raises UsageError for an unknown ending, LibraryError if the
    library for it is not installed, OutputError if `path` cannot become a folder.
    """
    path = Path(path)
    ending = path.suffix
    if ending not in ENDINGS:
        known = ", ".join(f"{name} ({what})" for name, what in ENDINGS.items())
        raise UsageError(f"{path}: expected a name that ends in one of {known}")
    if ending == ".parquet":
        return lambda ops, _: write_table(path, ops)
    if ending == ".pftrace":
        from . import perfetto

        perfetto.load_library()
        return lambda ops, name: perfetto.write_perfetto(ops, path, name=name)
    if ending == ".otf2":
        from ..otf2_library import load_library
        from . import otf2

        load_library()
        check_new_folder(path)
        return lambda ops, name: otf2.write_otf2(ops, path, name=name)
    from . import picture

    return lambda ops, name: picture.write_picture(ops, path, title=name)
