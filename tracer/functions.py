"""The MPI functions that are wrapped: their arguments, and how each is recorded.

An argument is "KIND NAME"; `generate.KINDS` has the types of a kind in C, with large counts, and in Fortran.
`record` is the C statement that records the call after it returned; `$name` stands for an argument's value
(in C: `name` or `*name`; in Fortran the result of a conversion), `$first` for the number of an array's first
element, `$started` for the request that a nonblocking or persistent call made, and none in a blocking one.
`before` is the statement that looks up before the call what the call changes or frees.
"""

from __future__ import annotations

import file_functions
import rma_functions
from function import MPI_4, Function

SEND = "in buf, count count, type datatype, int dest, int tag, comm comm"
RECV = "out buf, count count, type datatype, int source, int tag, comm comm"
ENVELOPE = "$count, $datatype, $source, $tag, $comm"
HANDLE = "const uint64_t handle = request_value($request);"
HANDLES = "const uint64_t* handles = $requests;"


INFO_OF_SEND_MODE = {"Bsend": "INFO_BUFFERED", "Ssend": "INFO_SYNCHRONOUS"}


def sends() -> list[Function]:
    """Blocking, nonblocking and persistent sends."""
    found = []
    for name in ("Send", "Bsend", "Ssend", "Rsend"):
        started = "$count, $datatype, $dest, $tag, $comm, $request"
        found += [
            Function(
                name,
                SEND,
                f"record_send(&call, CALL_{name.upper()}, $count, $datatype, $dest, $tag, $comm);",
                large=True,
            ),
            Function(
                f"I{name.lower()}",
                f"{SEND}, request request",
                f"record_isend(&call, CALL_I{name.upper()}, {started});",
                large=True,
            ),
            Function(
                f"{name}_init",
                f"{SEND}, request request",
                f"record_send_init(&call, {INFO_OF_SEND_MODE.get(name, 0)}, {started});",
                large=True,
            ),
        ]
    return found


def receives() -> list[Function]:
    """Receives and exchanges."""
    exchange = "int source, int recvtag, comm comm"
    parts = "$sendcount, $sendtype, $dest, $sendtag, $recvcount, $recvtype, $source, $recvtag"
    replaced = "$count, $datatype, $dest, $sendtag, $count, $datatype, $source, $recvtag"
    return [
        Function("Recv", f"{RECV}, status status", f"record_recv(&call, {ENVELOPE}, $status);", large=True),
        Function(
            "Irecv",
            f"{RECV}, request request",
            f"record_irecv(&call, CALL_IRECV, {ENVELOPE}, $request);",
            large=True,
        ),
        Function(
            "Recv_init",
            f"{RECV}, request request",
            f"record_irecv(&call, CALL_RECV_INIT, {ENVELOPE}, $request);",
            large=True,
        ),
        Function(
            "Sendrecv",
            "in sendbuf, count sendcount, type sendtype, int dest, int sendtag, "
            f"out recvbuf, count recvcount, type recvtype, {exchange}, status status",
            f"record_sendrecv(&call, {parts}, $comm, $status);",
            large=True,
        ),
        Function(
            "Sendrecv_replace",
            f"out buf, count count, type datatype, int dest, int sendtag, {exchange}, status status",
            f"record_sendrecv(&call, {replaced}, $comm, $status);",
            large=True,
        ),
        Function(
            "Isendrecv",
            "in sendbuf, count sendcount, type sendtype, int dest, int sendtag, "
            f"out recvbuf, count recvcount, type recvtype, {exchange}, request request",
            f"record_isendrecv(&call, {parts}, $comm, $request);",
            large=True,
            condition=MPI_4,
        ),
        Function(
            "Isendrecv_replace",
            f"out buf, count count, type datatype, int dest, int sendtag, {exchange}, request request",
            f"record_isendrecv(&call, {replaced}, $comm, $request);",
            large=True,
            condition=MPI_4,
        ),
    ]


def probes() -> list[Function]:
    """Probes, and the receives of probed messages."""
    probe = "int source, int tag, comm comm"
    found = "record_probe(&call, $source, $tag, $comm, $status);"
    matched = "record_mprobe(&call, $source, $tag, $comm, $message, $status);"
    received = "out buf, count count, type datatype, message message"
    taken = "const uint64_t taken = message_value($message);"
    either = "if ($flag) {{ {} }} else {{ record_poll(&call); }}"
    return [
        Function("Probe", f"{probe}, status status", found),
        Function("Iprobe", f"{probe}, flag flag, status status", either.format(found)),
        Function("Mprobe", f"{probe}, message message, status status", matched),
        Function("Improbe", f"{probe}, flag flag, message message, status status", either.format(matched)),
        Function("Mrecv", f"{received}, status status", "record_mrecv(&call, taken, $status);", taken, large=True),
        Function(
            "Imrecv",
            f"{received}, request request",
            "record_imrecv(&call, taken, $request);",
            taken,
            large=True,
        ),
    ]


def completions() -> list[Function]:
    """Waits, tests, and other calls with requests."""
    some = "int incount, requests:incount requests, outcount outcount, indices indices, statuses:incount statuses"
    every = "int count, requests:count requests"
    statuses = "statuses:count statuses"
    one = "request request"
    chosen = "$index, $first, handles, $status"
    listed = "$outcount, $indices, $first, handles, $statuses"
    return [
        Function("Wait", f"{one}, status status", "record_wait(&call, CALL_WAIT, handle, $status);", HANDLE),
        Function(
            "Waitall",
            f"{every}, {statuses}",
            "record_waitall(&call, CALL_WAITALL, $count, handles, $statuses);",
            HANDLES,
        ),
        Function(
            "Waitany",
            f"{every}, index index, status status",
            f"record_waitany(&call, CALL_WAITANY, {chosen});",
            HANDLES,
        ),
        Function("Waitsome", some, f"record_waitsome(&call, CALL_WAITSOME, {listed});", HANDLES),
        Function("Test", f"{one}, flag flag, status status", "record_test(&call, $flag, handle, $status);", HANDLE),
        Function(
            "Testall",
            f"{every}, flag flag, {statuses}",
            "record_testall(&call, $flag, $count, handles, $statuses);",
            HANDLES,
        ),
        Function(
            "Testany",
            f"{every}, index index, flag flag, status status",
            f"record_testany(&call, $flag, {chosen});",
            HANDLES,
        ),
        Function("Testsome", some, f"record_testsome(&call, {listed});", HANDLES),
        Function("Request_get_status", "request_in request, flag flag, unread status", "record_poll(&call);"),
        Function(
            "Request_free",
            one,
            "record_request_free(&call, handle, &outcome);",
            f"{HANDLE} const Outcome outcome = outcome_of_cancelled($request);",
            frees_handle=True,
        ),
        Function("Cancel", one, "record_cancel(&call, handle);", HANDLE),
        Function("Start", one, "record_start(&call, handle);", HANDLE),
        Function("Startall", every, "record_startall(&call, $count, handles);", HANDLES),
    ]


def blocking_collectives() -> list[Function]:
    """The blocking collectives; all have a large-count form but Barrier."""
    part = "in sendbuf, count sendcount, type sendtype"
    one = "out recvbuf, count recvcount, type recvtype"
    many = "out recvbuf, counts recvcounts, displs displs, type recvtype"
    reduce = "in sendbuf, out recvbuf, count count, type datatype, op op"
    v = (
        "in sendbuf, counts sendcounts, {0} sdispls, {1} sendtype, "
        "out recvbuf, counts recvcounts, {0} rdispls, {1} recvtype"
    )
    sent = "$sendbuf, $sendcount, $sendtype"
    parts = "parts_of($sendcounts, $sendtype), parts_of($recvcounts, $recvtype)"
    mixed = "mixed_parts($sendcounts, $sendtype), mixed_parts($recvcounts, $recvtype)"
    part_sent, part_received = "bytes_of($sendcount, $sendtype)", "bytes_of($recvcount, $recvtype)"
    rows = [
        ("Barrier", "", "record_barrier(&call"),
        (
            "Bcast",
            "out buffer, count count, type datatype, int root",
            "record_vector(&call, BCAST, $count, $datatype, $root",
        ),
        ("Reduce", f"{reduce}, int root", "record_vector(&call, REDUCE, $count, $datatype, $root"),
        ("Allreduce", reduce, "record_vector(&call, ALLREDUCE, $count, $datatype, NO_ROOT"),
        ("Scan", reduce, "record_vector(&call, SCAN, $count, $datatype, NO_ROOT"),
        ("Exscan", reduce, "record_vector(&call, EXSCAN, $count, $datatype, NO_ROOT"),
        ("Gather", f"{part}, {one}, int root", f"record_gather(&call, {sent}, $recvcount, $recvtype, $root"),
        (
            "Gatherv",
            f"{part}, {many}, int root",
            f"record_gatherv(&call, {sent}, $recvcounts, $recvtype, $root",
        ),
        (
            "Scatter",
            f"{part}, {one}, int root",
            "record_scatter(&call, $sendcount, $sendtype, $recvcount, $recvtype, $root",
        ),
        (
            "Scatterv",
            f"in sendbuf, counts sendcounts, displs displs, type sendtype, {one}, int root",
            "record_scatterv(&call, $sendcounts, $sendtype, $recvbuf, $recvcount, $recvtype, $root",
        ),
        ("Allgather", f"{part}, {one}", f"record_parts(&call, ALLGATHER, {sent}, $recvcount, $recvtype"),
        ("Allgatherv", f"{part}, {many}", f"record_allgatherv(&call, {sent}, $recvcounts, $recvtype"),
        ("Alltoall", f"{part}, {one}", f"record_parts(&call, ALLTOALL, {sent}, $recvcount, $recvtype"),
        ("Alltoallv", v.format("displs", "type"), f"record_exchange(&call, ALLTOALLV, $sendbuf, {parts}"),
        ("Alltoallw", v.format("displs", "types"), f"record_exchange(&call, ALLTOALLW, $sendbuf, {mixed}"),
        (
            "Reduce_scatter",
            "in sendbuf, out recvbuf, counts recvcounts, type datatype, op op",
            "record_reduce_scatter(&call, $recvcounts, $datatype",
        ),
        (
            "Reduce_scatter_block",
            "in sendbuf, out recvbuf, count recvcount, type datatype, op op",
            "record_reduce_scatter_block(&call, $recvcount, $datatype",
        ),
        ("Neighbor_allgather", f"{part}, {one}", f"record_neighbor(&call, {part_sent}, {part_received}"),
        (
            "Neighbor_allgatherv",
            f"{part}, {many}",
            f"record_neighbor_gatherv(&call, {part_sent}, parts_of($recvcounts, $recvtype)",
        ),
        ("Neighbor_alltoall", f"{part}, {one}", f"record_neighbor(&call, {part_sent}, {part_received}"),
        ("Neighbor_alltoallv", v.format("displs", "type"), f"record_neighbor_exchange(&call, {parts}"),
        ("Neighbor_alltoallw", v.format("aints", "types"), f"record_neighbor_exchange(&call, {mixed}"),
    ]
    return [
        Function(
            name,
            f"{arguments}, comm comm" if arguments else "comm comm",
            f"{record}, $comm, $started);",
            large=name != "Barrier",
        )
        for name, arguments, record in rows
    ]


def nonblocking_collectives() -> list[Function]:
    """The same, nonblocking."""
    return [
        Function(f"I{f.name.lower()}", f"{f.arguments}, request request", f.record, large=f.large)
        for f in blocking_collectives()
    ]


def persistent_collectives() -> list[Function]:
    """The same, persistent."""
    return [
        Function(
            f"{f.name}_init", f"{f.arguments}, info info, request request", f.record, large=f.large, condition=MPI_4
        )
        for f in blocking_collectives()
    ]


def communicators() -> list[Function]:
    """Calls that make and free communicators."""
    adjacent = "int indegree, ints sources, ints sourceweights, int outdegree, ints destinations, ints destweights"
    rows = [
        ("Comm_dup", "comm comm"),
        ("Comm_dup_with_info", "comm comm, info info"),
        ("Comm_split", "comm comm, int color, int key"),
        ("Comm_split_type", "comm comm, int split_type, int key, info info"),
        ("Comm_create", "comm comm, group group"),
        ("Cart_create", "comm comm, int ndims, ints dims, ints periods, int reorder"),
        ("Cart_sub", "comm comm, ints remain_dims"),
        ("Graph_create", "comm comm, int nnodes, ints index, ints edges, int reorder"),
        ("Dist_graph_create_adjacent", f"comm comm, {adjacent}, info info, int reorder"),
        (
            "Dist_graph_create",
            "comm comm, int n, ints nodes, ints degrees, ints targets, ints weights, info info, int reorder",
        ),
        ("Intercomm_merge", "comm comm, int high"),
    ]
    made = [
        Function(name, f"{arguments}, newcomm newcomm", "record_comm(&call, $comm, $newcomm);")
        for name, arguments in rows
    ]
    pending = "pendingcomm newcomm, request request"
    recorded = "$newcomm(&call, $comm, newcomm, $request);"
    freed = "const uint64_t id = freed_comm($comm);"
    return [
        *made,
        Function("Comm_idup", f"comm comm, {pending}", recorded),
        Function("Comm_idup_with_info", f"comm comm, info info, {pending}", recorded, condition=MPI_4),
        Function(
            "Comm_create_group",
            "comm comm, group group, int tag, newcomm newcomm",
            "record_comm_group(&call, $comm, $newcomm, $tag);",
        ),
        Function(
            "Intercomm_create",
            "comm local_comm, int local_leader, comm peer_comm, int remote_leader, int tag, newcomm newcomm",
            "record_intercomm(&call, $local_comm, $newcomm, $tag);",
        ),
        Function(
            "Comm_create_from_group",
            "group group, string stringtag, info info, errhandler errhandler, newcomm newcomm",
            "record_comm_from_group(&call, $newcomm, $stringtag);",
            condition=MPI_4,
        ),
        Function(
            "Intercomm_create_from_groups",
            "group local_group, int local_leader, group remote_group, int remote_leader, string stringtag, info info, "
            "errhandler errhandler, newcomm newcomm",
            "record_comm_from_group(&call, $newcomm, $stringtag);",
            condition=MPI_4,
        ),
        Function("Comm_free", "commhandle comm", "record_comm_free(&call, id);", freed),
        Function("Comm_disconnect", "commhandle comm", "record_comm_free(&call, id);", freed),
    ]


def partitioned() -> list[Function]:
    """Partitioned messages."""
    partitions = "int partitions, wide count, type datatype"
    rows = [
        (
            "Psend_init",
            f"in buf, {partitions}, int dest, int tag, comm comm, info info, request request",
            "record_psend_init(&call, $partitions, $count, $datatype, $dest, $tag, $comm, $request);",
        ),
        (
            "Precv_init",
            f"out buf, {partitions}, int source, int tag, comm comm, info info, request request",
            "record_precv_init(&call, $partitions, $count, $datatype, $source, $tag, $comm, $request);",
        ),
        ("Pready", "int partition, request_in request", "record_pready(&call, 1, $request);"),
        (
            "Pready_range",
            "int partition_low, int partition_high, request_in request",
            "record_pready(&call, $partition_high - $partition_low + 1, $request);",
        ),
        (
            "Pready_list",
            "int length, partitions array_of_partitions, request_in request",
            "record_pready(&call, $length, $request);",
        ),
        (
            "Parrived",
            "request_in request, int partition, flag flag",
            "record_parrived(&call, $flag, $partition, $request);",
        ),
    ]
    return [Function(*row, condition=MPI_4) for row in rows]


def dynamic_processes() -> list[Function]:
    """Calls that start processes or join others: recorded by name, because nothing of them can be simulated."""
    made = "newcomm newcomm"
    port = "string port_name, info info, int root, comm comm"
    several = "int count, strings commands, strings_of_each argvs, ints maxprocs, infos infos"
    rows = [
        (
            "Comm_spawn",
            "string command, strings argv, int maxprocs, info info, int root, comm comm, newcomm newcomm, codes codes",
        ),
        ("Comm_spawn_multiple", f"{several}, int root, comm comm, {made}, codes codes"),
        ("Comm_accept", f"{port}, {made}"),
        ("Comm_connect", f"{port}, {made}"),
        ("Comm_join", f"int fd, {made}"),
    ]
    return [Function(name, arguments, f'record_dynamic(&call, "MPI_{name}");') for name, arguments in rows]


FUNCTIONS = [
    *sends(),
    *receives(),
    *probes(),
    *completions(),
    *blocking_collectives(),
    *nonblocking_collectives(),
    *persistent_collectives(),
    *partitioned(),
    *communicators(),
    *rma_functions.FUNCTIONS,
    *file_functions.FUNCTIONS,
    *dynamic_processes(),
    Function("Abort", "comm comm, int errorcode", before="record_abort(&call, $errorcode);"),
]
