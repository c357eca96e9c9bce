/* The transport of transport.h over MPI. */
#include "transport.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tag = 7, first_tickets = 64 };

static struct idlewave_transport transport;
static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Op combine = MPI_OP_NULL;
static MPI_Datatype cut_type = MPI_DATATYPE_NULL;
static char error_message[MPI_MAX_ERROR_STRING + 1];

/* The requests of messages on their way, by ticket. */
static MPI_Request* requests;
static int32_t* unused;
static int32_t tickets, unused_count;

static MPI_Message found = MPI_MESSAGE_NULL;
static int found_size;

static MPI_Request cut_request = MPI_REQUEST_NULL;
static struct idlewave_cut cut_mine, cut_all;

static int check(int status) {
    if (status == MPI_SUCCESS) return 0;
    int length = 0;
    if (MPI_Error_string(status, error_message, &length) != MPI_SUCCESS) length = 0;
    error_message[length] = '\0';
    return 1;
}

static int fail(const char* text) {
    snprintf(error_message, sizeof error_message, "%s", text);
    return 1;
}

static int more_tickets(void) {
    const int32_t more = tickets == 0 ? first_tickets : tickets;
    MPI_Request* grown = realloc(requests, (size_t)(tickets + more) * sizeof *requests);
    if (grown == NULL) return fail("out of memory");
    requests = grown;
    int32_t* list = realloc(unused, (size_t)(tickets + more) * sizeof *unused);
    if (list == NULL) return fail("out of memory");
    unused = list;
    for (int32_t i = tickets + more; i-- > tickets;) unused[unused_count++] = i;
    tickets += more;
    return 0;
}

static int transport_send(int32_t to, const void* bytes, size_t size, int32_t* ticket) {
    if (size > INT_MAX) return fail("a message of 2 GiB or more");
    if (unused_count == 0 && more_tickets() != 0) return 1;
    *ticket = unused[--unused_count];
    return check(MPI_Isend(bytes, (int)size, MPI_BYTE, to, tag, comm, &requests[*ticket]));
}

static int transport_sent(int32_t ticket, int32_t* done) {
    int flag = 0;
    const int status = check(MPI_Test(&requests[ticket], &flag, MPI_STATUS_IGNORE));
    *done = flag;
    if (flag) unused[unused_count++] = ticket;
    return status;
}

static int transport_probe(int64_t* size) {
    int flag = 0;
    MPI_Status status;
    *size = -1;
    if (check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &flag, &found, &status)) != 0) return 1;
    if (!flag) return 0;
    if (check(MPI_Get_count(&status, MPI_BYTE, &found_size)) != 0) return 1;
    *size = found_size;
    return 0;
}

static int transport_receive(void* bytes) {
    return check(MPI_Mrecv(bytes, found_size, MPI_BYTE, &found, MPI_STATUS_IGNORE));
}

static void combine_cuts(void* in, void* inout, int* count, MPI_Datatype* type) {
    const struct idlewave_cut* a = in;
    struct idlewave_cut* b = inout;
    (void)type;
    for (int i = 0; i < *count; ++i) {
        for (int j = 0; j < 2; ++j) b[i].sum[j] += a[i].sum[j];
        for (int j = 0; j < 4; ++j)
            if (a[i].least[j] < b[i].least[j]) b[i].least[j] = a[i].least[j];
    }
}

static int transport_contribute(const struct idlewave_cut* mine) {
    cut_mine = *mine;
    return check(MPI_Iallreduce(&cut_mine, &cut_all, 1, cut_type, combine, comm, &cut_request));
}

static int transport_completed(struct idlewave_cut* cut, int32_t* done) {
    int flag = 0;
    const int status = check(MPI_Test(&cut_request, &flag, MPI_STATUS_IGNORE));
    *done = flag;
    if (flag) *cut = cut_all;
    return status;
}

static int transport_sum(uint64_t* values, int32_t count) {
    return check(MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_SUM, comm));
}

static int transport_close(void) {
    if (check(MPI_Type_free(&cut_type)) != 0 || check(MPI_Op_free(&combine)) != 0 || check(MPI_Comm_free(&comm)) != 0)
        return 1;
    free(requests);
    free(unused);
    requests = NULL;
    unused = NULL;
    tickets = unused_count = 0;
    return check(MPI_Finalize());
}

static void transport_abort(int32_t status) {
    MPI_Abort(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, status);
}

static const char* transport_error_text(void) {
    return error_message;
}

static int open_all(void) {
    int provided = MPI_THREAD_SINGLE;
    if (check(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided)) != 0) return 1;
    if (provided < MPI_THREAD_SERIALIZED) return fail("this MPI cannot be called by several threads, one at a time");
    /* A communicator of our own keeps our messages apart from others; errors are returned instead of ending the
     * process. */
    if (check(MPI_Comm_dup(MPI_COMM_WORLD, &comm)) != 0) return 1;
    if (check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)) != 0) return 1;
    if (check(MPI_Type_contiguous(6, MPI_INT64_T, &cut_type)) != 0 || check(MPI_Type_commit(&cut_type)) != 0) return 1;
    if (check(MPI_Op_create(combine_cuts, 1, &combine)) != 0) return 1;
    int process = 0, processes = 1;
    if (check(MPI_Comm_rank(comm, &process)) != 0 || check(MPI_Comm_size(comm, &processes)) != 0) return 1;
    transport =
        (struct idlewave_transport){process,         processes,         transport_send,       transport_sent,
                                    transport_probe, transport_receive, transport_contribute, transport_completed,
                                    transport_sum,   transport_close,   transport_abort,      transport_error_text};
    return 0;
}

const struct idlewave_transport* idlewave_open_transport(char* error, size_t error_size) {
    if (open_all() == 0) return &transport;
    snprintf(error, error_size, "%s", error_message);
    return NULL;
}
