"""The MPI functions of one-sided communication: windows, their operations and their synchronisation."""

from __future__ import annotations

from function import Function

ORIGIN = "count origin_count, type origin_datatype"
TARGET = "int target_rank, aint target_disp, count target_count, type target_datatype"
SENT = "bytes_of($origin_count, $origin_datatype)"
RECEIVED = "bytes_of($result_count, $result_datatype)"
ONE = "bytes_of(1, $datatype)"


def windows() -> list[Function]:
    """Calls that make and free windows."""
    shape = "aint size, disp disp_unit, info info, comm comm"
    rows = [
        ("Win_create", f"base base, {shape}", "WINDOW_CREATED", True),
        ("Win_allocate", f"{shape}, base baseptr", "WINDOW_ALLOCATED", True),
        ("Win_allocate_shared", f"{shape}, base baseptr", "WINDOW_SHARED", True),
        ("Win_create_dynamic", "info info, comm comm", "WINDOW_DYNAMIC", False),
    ]
    made = [
        Function(
            name,
            f"{arguments}, newwin win",
            f"record_window_made(&call, {kind}, $comm, $win);",
            large=large,
            fortran_names=("cptr_",) if "baseptr" in arguments else (),
        )
        for name, arguments, kind, large in rows
    ]
    freed = Function(
        "Win_free",
        "winhandle win",
        "record_window_freed(&call, id);",
        "const uint64_t id = window_before_free($win);",
    )
    return [*made, freed]


def operations() -> list[Function]:
    """Puts, gets and accumulates."""
    there = f"{ORIGIN}, {TARGET}"
    result = "out result_addr, count result_count, type result_datatype"
    rows = [
        ("Put", f"in origin_addr, {there}, win win", "PUT", f"{SENT}, 0"),
        ("Get", f"out origin_addr, {there}, win win", "GET", f"0, {SENT}"),
        ("Accumulate", f"in origin_addr, {there}, op op, win win", "ACCUMULATE", f"{SENT}, 0"),
        (
            "Get_accumulate",
            f"in origin_addr, {ORIGIN}, {result}, {TARGET}, op op, win win",
            "GET_ACCUMULATE",
            f"{SENT}, {RECEIVED}",
        ),
    ]
    found = []
    for name, arguments, operation, sizes in rows:
        recorded = f"record_one_sided(&call, {operation}, $target_rank, {sizes}, $win"
        found += [
            Function(name, arguments, f"{recorded}, $started);", large=True),
            Function(f"R{name.lower()}", f"{arguments}, request request", f"{recorded}, $started);", large=True),
        ]
    single = "type datatype, int target_rank, aint target_disp"
    atomic = [
        ("Fetch_and_op", f"in origin_addr, out result_addr, {single}, op op, win win", "FETCH_AND_OP"),
        (
            "Compare_and_swap",
            f"in origin_addr, in compare_addr, out result_addr, {single}, win win",
            "COMPARE_AND_SWAP",
        ),
    ]
    return found + [
        Function(name, arguments, f"record_one_sided(&call, {operation}, $target_rank, {ONE}, {ONE}, $win, $started);")
        for name, arguments, operation in atomic
    ]


def synchronisation() -> list[Function]:
    """Calls that begin and end epochs, and those that complete operations within them."""
    waited = "record_window(&call, CALL_WIN_WAIT, $win);"
    group = "group group, int assert, win win"
    lock = "$lock_type == MPI_LOCK_SHARED ? SHARED_LOCK : EXCLUSIVE_LOCK"
    passive = [
        ("Win_lock", "int lock_type, int rank, int assert, win win", lock, "$rank"),
        ("Win_unlock", "int rank, win win", "UNLOCK", "$rank"),
        ("Win_lock_all", "int assert, win win", "LOCK", "EVERY_RANK"),
        ("Win_unlock_all", "win win", "UNLOCK", "EVERY_RANK"),
        ("Win_flush", "int rank, win win", "FLUSH", "$rank"),
        ("Win_flush_all", "win win", "FLUSH", "EVERY_RANK"),
        ("Win_flush_local", "int rank, win win", "FLUSH_LOCAL", "$rank"),
        ("Win_flush_local_all", "win win", "FLUSH_LOCAL", "EVERY_RANK"),
        ("Win_sync", "win win", "SYNC", "EVERY_RANK"),
    ]
    return [
        Function("Win_fence", "int assert, win win", "record_window(&call, CALL_WIN_FENCE, $win);"),
        Function("Win_post", group, "record_window_group(&call, CALL_WIN_POST, $group, $win);"),
        Function("Win_start", group, "record_window_group(&call, CALL_WIN_START, $group, $win);"),
        Function("Win_complete", "win win", "record_window(&call, CALL_WIN_COMPLETE, $win);"),
        Function("Win_wait", "win win", waited),
        Function("Win_test", "win win, flag flag", f"if ($flag) {{ {waited} }} else {{ record_poll(&call); }}"),
        *(
            Function(name, arguments, f"record_passive_target(&call, {step}, {target}, $win);")
            for name, arguments, step, target in passive
        ),
    ]


FUNCTIONS = [*windows(), *operations(), *synchronisation()]
