"""The MPI functions of files (MPI-IO)."""

from __future__ import annotations

from function import Function

DATA = "count count, type datatype"
MOVED = "bytes_of($count, $datatype)"


def opening() -> list[Function]:
    """Calls that open and close files, and the other ones that all ranks of a file make together."""
    rows = [
        ("File_set_size", "file file, offset size"),
        ("File_preallocate", "file file, offset size"),
        ("File_set_atomicity", "file file, int flag"),
        ("File_set_info", "file file, info info"),
        ("File_seek_shared", "file file, offset offset, int whence"),
        ("File_set_view", "file file, offset disp, type etype, type filetype, string datarep, info info"),
        ("File_sync", "file file"),
    ]
    return [
        Function(
            "File_open",
            "comm comm, string filename, int amode, info info, newfile file",
            "record_file_opened(&call, $comm, $file);",
            despite_errors=True,
        ),
        Function(
            "File_close",
            "filehandle file",
            "record_file_closed(&call, id);",
            "const uint64_t id = file_before_close($file);",
            despite_errors=True,
        ),
        *(
            Function(name, arguments, "record_file(&call, FILE_OTHER, true, 0, $file, $started);", despite_errors=True)
            for name, arguments in rows
        ),
    ]


def transfers() -> list[Function]:
    """Reads and writes: at an offset, at the rank's or at the shared position; of one rank or of all together.

    A nonblocking one does not wait for the others.
    """
    found = []
    for verb, buffer, kind in (("read", "out buf", "FILE_READ"), ("write", "in buf", "FILE_WRITE")):
        for suffix, where, together in (
            ("", "", False),
            ("_at", "offset offset, ", False),
            ("_shared", "", False),
            ("_all", "", True),
            ("_at_all", "offset offset, ", True),
        ):
            arguments = f"file file, {where}{buffer}, {DATA}"
            alone = f"record_file(&call, {kind}, false, {MOVED}, $file, $started);"
            recorded = alone.replace("false", "true") if together else alone
            found += [
                Function(
                    f"File_{verb}{suffix}",
                    f"{arguments}, unread status",
                    recorded,
                    large=True,
                    despite_errors=together,
                ),
                Function(f"File_i{verb}{suffix}", f"{arguments}, request request", alone, large=True),
            ]
        recorded = f"record_file(&call, {kind}, true, {MOVED}, $file, $started);"
        arguments = f"file file, {buffer}, {DATA}, unread status"
        found.append(Function(f"File_{verb}_ordered", arguments, recorded, large=True, despite_errors=True))
        found += halves(verb, buffer, kind)
    return found


def halves(verb: str, buffer: str, kind: str) -> list[Function]:
    """Transfers of all ranks that are begun by one call and ended by another. The first does not synchronise."""
    found = []
    for suffix, where in (("all", ""), ("at_all", "offset offset, "), ("ordered", "")):
        begun = f"record_file(&call, {kind}, false, {MOVED}, $file, $started);"
        ended = f"record_file(&call, {kind}, true, 0, $file, $started);"
        found += [
            Function(f"File_{verb}_{suffix}_begin", f"file file, {where}{buffer}, {DATA}", begun, large=True),
            Function(f"File_{verb}_{suffix}_end", f"file file, {buffer}, unread status", ended, despite_errors=True),
        ]
    return found


FUNCTIONS = [*opening(), *transfers()]
