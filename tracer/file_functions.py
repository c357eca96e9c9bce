"""The MPI functions of files (MPI-IO)."""

from __future__ import annotations

from function import Function

DATA = "count count, type datatype"
MOVED = "bytes_of($count, $datatype)"
NOTHING = "0"


def call(name: str, arguments: str, operation: str, moved: str, *, collective: bool = False) -> Function:
    """A call of a file. A collective one is recorded even if it failed: on other ranks it may have succeeded."""
    together = str(collective).lower()
    return Function(
        name,
        arguments,
        f"record_file(&call, {operation}, {together}, {moved}, $file, $started);",
        despite_errors=collective,
        large=moved == MOVED,
    )


def opening() -> list[Function]:
    """Calls that open and close files, and the other collective ones that move no data."""
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
        *(call(name, arguments, "FILE_OTHER", NOTHING, collective=True) for name, arguments in rows),
    ]


def transfers() -> list[Function]:
    """Reads and writes: at an offset, at the rank's or at the shared position; collective or not.

    A nonblocking one does not wait for the other ranks.
    """
    found = []
    for verb, buffer, kind in (("read", "out buf", "FILE_READ"), ("write", "in buf", "FILE_WRITE")):
        for suffix, where, collective in (
            ("", "", False),
            ("_at", "offset offset, ", False),
            ("_shared", "", False),
            ("_all", "", True),
            ("_at_all", "offset offset, ", True),
        ):
            arguments = f"file file, {where}{buffer}, {DATA}"
            found += [
                call(f"File_{verb}{suffix}", f"{arguments}, unread status", kind, MOVED, collective=collective),
                call(f"File_i{verb}{suffix}", f"{arguments}, request request", kind, MOVED),
            ]
        arguments = f"file file, {buffer}, {DATA}, unread status"
        found.append(call(f"File_{verb}_ordered", arguments, kind, MOVED, collective=True))
        found += split_collectives(verb, buffer, kind)
    return found


def split_collectives(verb: str, buffer: str, kind: str) -> list[Function]:
    """Split collectives: the first call begins a transfer and does not wait for the other ranks, the second ends it."""
    found = []
    for suffix, where in (("all", ""), ("at_all", "offset offset, "), ("ordered", "")):
        ended = f"file file, {buffer}, unread status"
        found += [
            call(f"File_{verb}_{suffix}_begin", f"file file, {where}{buffer}, {DATA}", kind, MOVED),
            call(f"File_{verb}_{suffix}_end", ended, kind, NOTHING, collective=True),
        ]
    return found


FUNCTIONS = [*opening(), *transfers()]
