// The numbers of docs/trace-format.md.
#ifndef IDLEWAVE_CALLS_H
#define IDLEWAVE_CALLS_H

enum {
    CALL_INIT = 1,
    CALL_FINALIZE = 2,
    CALL_ABORT = 3,
    CALL_POLLS = 4,
    CALL_COMM_DEF = 5,
    CALL_COMM_FREE = 6,
    CALL_CART = 7,
    CALL_REQUEST_FREE = 8,
    CALL_CANCEL = 9,
    CALL_START = 10,
    CALL_UNMODELLED = 11,
    CALL_TRACER = 12,
    CALL_NEIGHBORS = 13,
    CALL_WINDOW = 14,
    CALL_WINDOW_FREE = 15,
    CALL_SEND = 16,
    CALL_BSEND = 17,
    CALL_SSEND = 18,
    CALL_RSEND = 19,
    CALL_ISEND = 20,
    CALL_IBSEND = 21,
    CALL_ISSEND = 22,
    CALL_IRSEND = 23,
    CALL_SEND_INIT = 24,
    CALL_PSEND_INIT = 25,
    CALL_PREADY = 26,
    CALL_PARRIVED = 27,
    CALL_ONE_SIDED = 28,
    CALL_FILE_OPEN = 29,
    CALL_FILE_CLOSE = 30,
    CALL_FILE = 31,
    CALL_RECV = 32,
    CALL_IRECV = 33,
    CALL_RECV_INIT = 34,
    CALL_SENDRECV = 35,
    CALL_PROBE = 36,
    CALL_MPROBE = 37,
    CALL_MRECV = 38,
    CALL_IMRECV = 39,
    CALL_ISENDRECV = 40,
    CALL_PRECV_INIT = 41,
    CALL_WAIT = 48,
    CALL_WAITALL = 49,
    CALL_WAITANY = 50,
    CALL_WAITSOME = 51,
    CALL_TEST = 52,
    CALL_TESTALL = 53,
    CALL_TESTANY = 54,
    CALL_TESTSOME = 55,
    CALL_WIN_FENCE = 56,
    CALL_WIN_POST = 57,
    CALL_WIN_START = 58,
    CALL_WIN_COMPLETE = 59,
    CALL_WIN_WAIT = 60,
    CALL_PASSIVE_TARGET = 61,
    CALL_CORE_WAIT = 62,
    CALL_PCONTROL = 63,
    CALL_COLLECTIVE = 64,
    CALL_NONBLOCKING_COLLECTIVE = 128,
    CALL_COLLECTIVE_INIT = 192
};

enum {
    BARRIER = 0,
    BCAST = 1,
    REDUCE = 2,
    ALLREDUCE = 3,
    GATHER = 4,
    GATHERV = 5,
    SCATTER = 6,
    SCATTERV = 7,
    ALLGATHER = 8,
    ALLGATHERV = 9,
    ALLTOALL = 10,
    ALLTOALLV = 11,
    ALLTOALLW = 12,
    REDUCE_SCATTER = 13,
    REDUCE_SCATTER_BLOCK = 14,
    SCAN = 15,
    EXSCAN = 16,
    NEIGHBOR = 17
};

// How a window was made, what a one-sided call does, and what a file call does.
enum { WINDOW_CREATED = 0, WINDOW_ALLOCATED = 1, WINDOW_SHARED = 2, WINDOW_DYNAMIC = 3 };
enum { PUT = 0, GET = 1, ACCUMULATE = 2, GET_ACCUMULATE = 3, FETCH_AND_OP = 4, COMPARE_AND_SWAP = 5 };
enum { LOCK = 0, UNLOCK = 1, FLUSH = 2, FLUSH_LOCAL = 3, SYNC = 4 };
enum { FILE_READ = 0, FILE_WRITE = 1, FILE_OTHER = 2 };

// info bits: of a communicator's definition (MEMBERS, INTERCOMM), of collectives with lists (…_COUNTS), of a call of a
// file (COLLECTIVE), and of MPI_Init: waits for a core are recorded (CORE_WAIT)
enum {
    INFO_MEMBERS = 1,
    INFO_INTERCOMM = 2,
    INFO_RECEIVE_COUNTS = 1,
    INFO_SEND_COUNTS = 2,
    INFO_COLLECTIVE = 1,
    INFO_CORE_WAIT = 1
};

enum { RANK_ANY = -1, RANK_PROC_NULL = -2, NOT_KNOWN = -3, RANK_ROOT = -4, TAG_ANY = -1, BYTES_NOT_KNOWN = -1 };

enum { COMM_ID_NULL = 0, COMM_ID_WORLD = 1, COMM_ID_SELF = 2 };
#define COMM_ID_UNKNOWN UINT64_MAX

#endif
