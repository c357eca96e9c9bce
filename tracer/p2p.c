#include "p2p.h"

#include "calls.h"
#include "comm.h"
#include "request.h"
#include "session.h"

// True once the program has cancelled a request: from then on completions are tested for cancellation.
static bool any_cancelled;

// The handles of the last requests that the program cancelled. The MPI may have reused a handle for another request:
// asking about that one changes nothing, and its record has no use for the answer.
enum { CANCELLED = 256 };
static struct {
    uint64_t handles[CANCELLED];
    size_t next;
} cancelled_requests;

static bool may_be_cancelled(uint64_t handle) {
    for (size_t i = 0; i < CANCELLED; i++) {
        if (cancelled_requests.handles[i] == handle) return true;
    }
    return false;
}

int64_t bytes_of(int64_t count, MPI_Datatype datatype) {
    if (datatype == MPI_DATATYPE_NULL) return 0;
#if MPI_VERSION >= 4
    MPI_Count size = 0;
    PMPI_Type_size_c(datatype, &size);
#else
    MPI_Count size = 0;
    PMPI_Type_size_x(datatype, &size);
#endif
    return count * (int64_t)size;
}

static int peer_of(int rank) {
    if (rank == MPI_ANY_SOURCE) return RANK_ANY;
    return rank == MPI_PROC_NULL ? RANK_PROC_NULL : rank;
}

static uint64_t peer_and_tag(int rank, int tag) {
    return pair(peer_of(rank), tag == MPI_ANY_TAG ? TAG_ANY : tag);
}

static void received(const MPI_Status* status, uint64_t* words) {
    words[0] = pair(NOT_KNOWN, NOT_KNOWN);
    words[1] = (uint64_t)(int64_t)BYTES_NOT_KNOWN;
    if (status == MPI_STATUS_IGNORE) return;
    MPI_Count bytes = 0;
#if MPI_VERSION >= 4
    PMPI_Get_elements_c(status, MPI_BYTE, &bytes);
#else
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
#endif
    words[0] = peer_and_tag(status->MPI_SOURCE, status->MPI_TAG);
    words[1] = (uint64_t)(bytes == MPI_UNDEFINED ? BYTES_NOT_KNOWN : (int64_t)bytes);
}

static void envelope(uint64_t* words, MPI_Comm comm, int peer, int tag, int64_t bytes) {
    words[0] = comm_of(comm)->id;
    words[1] = peer_and_tag(peer, tag);
    words[2] = (uint64_t)bytes;
}

void record_send(const Call* call, unsigned id, int64_t count, MPI_Datatype datatype, int destination, int tag,
                 MPI_Comm comm) {
    uint64_t* words = record_begin(3);
    if (!words) return;
    envelope(words, comm, destination, tag, bytes_of(count, datatype));
    record_commit(call, id, 0, 3);
}

static void record_started(const Call* call, unsigned id, unsigned info, int64_t bytes, int peer, int tag,
                           MPI_Comm comm, MPI_Request request) {
    uint64_t* words = record_begin(4);
    if (!words) return;
    envelope(words, comm, peer, tag, bytes);
    words[3] = request_value(request);
    record_commit(call, id, info, 4);
}

void record_send_init(const Call* call, unsigned info, int64_t count, MPI_Datatype datatype, int destination, int tag,
                      MPI_Comm comm, MPI_Request request) {
    persistent_add(request_value(request), call->end);
    record_started(call, CALL_SEND_INIT, info, bytes_of(count, datatype), destination, tag, comm, request);
}

void record_isend(const Call* call, unsigned id, int64_t count, MPI_Datatype datatype, int destination, int tag,
                  MPI_Comm comm, MPI_Request request) {
    record_started(call, id, 0, bytes_of(count, datatype), destination, tag, comm, request);
}

void record_irecv(const Call* call, unsigned id, int64_t count, MPI_Datatype datatype, int source, int tag,
                  MPI_Comm comm, MPI_Request request) {
    if (id == CALL_RECV_INIT) persistent_add(request_value(request), call->end);
    record_started(call, id, 0, bytes_of(count, datatype), source, tag, comm, request);
}

void record_recv(const Call* call, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 const MPI_Status* status) {
    uint64_t* words = record_begin(5);
    if (!words) return;
    envelope(words, comm, source, tag, bytes_of(count, datatype));
    received(status, words + 3);
    record_commit(call, CALL_RECV, 0, 5);
}

void record_sendrecv(const Call* call, int64_t sendcount, MPI_Datatype sendtype, int destination, int sendtag,
                     int64_t recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                     const MPI_Status* status) {
    uint64_t* words = record_begin(7);
    if (!words) return;
    envelope(words, comm, destination, sendtag, bytes_of(sendcount, sendtype));
    words[3] = peer_and_tag(source, recvtag);
    words[4] = (uint64_t)bytes_of(recvcount, recvtype);
    received(status, words + 5);
    record_commit(call, CALL_SENDRECV, 0, 7);
}

void record_isendrecv(const Call* call, int64_t sendcount, MPI_Datatype sendtype, int destination, int sendtag,
                      int64_t recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                      MPI_Request request) {
#ifndef OPEN_MPI  // MPICH 5.0 leaves in the status what was there before
    status_means_nothing(request_value(request), call->end);
#endif
    uint64_t* words = record_begin(6);
    if (!words) return;
    envelope(words, comm, destination, sendtag, bytes_of(sendcount, sendtype));
    words[3] = peer_and_tag(source, recvtag);
    words[4] = (uint64_t)bytes_of(recvcount, recvtype);
    words[5] = request_value(request);
    record_commit(call, CALL_ISENDRECV, 0, 6);
}

static void record_partitioned(const Call* call, unsigned id, int partitions, int64_t bytes, int peer, int tag,
                               MPI_Comm comm, MPI_Request request) {
    persistent_add(request_value(request), call->end);
    uint64_t* words = record_begin(5);
    if (!words) return;
    envelope(words, comm, peer, tag, bytes * partitions);
    words[3] = request_value(request);
    words[4] = (uint64_t)partitions;
    record_commit(call, id, 0, 5);
}

void record_psend_init(const Call* call, int partitions, int64_t count, MPI_Datatype datatype, int destination, int tag,
                       MPI_Comm comm, MPI_Request request) {
    record_partitioned(call, CALL_PSEND_INIT, partitions, bytes_of(count, datatype), destination, tag, comm, request);
}

void record_precv_init(const Call* call, int partitions, int64_t count, MPI_Datatype datatype, int source, int tag,
                       MPI_Comm comm, MPI_Request request) {
    record_partitioned(call, CALL_PRECV_INIT, partitions, bytes_of(count, datatype), source, tag, comm, request);
}

static void record_partitions(const Call* call, unsigned id, int partitions, MPI_Request request) {
    uint64_t* words = record_begin(2);
    if (!words) return;
    words[0] = request_value(request);
    words[1] = (uint64_t)partitions;
    record_commit(call, id, 0, 2);
}

void record_pready(const Call* call, int partitions, MPI_Request request) {
    record_partitions(call, CALL_PREADY, partitions, request);
}

void record_parrived(const Call* call, int flag, int partition, MPI_Request request) {
    if (flag) {
        record_partitions(call, CALL_PARRIVED, partition, request);
    } else {
        record_poll(call);
    }
}

static void probed(uint64_t* words, int source, int tag, MPI_Comm comm, const MPI_Status* status) {
    words[0] = comm_of(comm)->id;
    words[1] = peer_and_tag(source, tag);
    received(status, words + 2);
}

void record_probe(const Call* call, int source, int tag, MPI_Comm comm, const MPI_Status* status) {
    uint64_t* words = record_begin(4);
    if (!words) return;
    probed(words, source, tag, comm, status);
    record_commit(call, CALL_PROBE, 0, 4);
}

void record_mprobe(const Call* call, int source, int tag, MPI_Comm comm, MPI_Message message,
                   const MPI_Status* status) {
    uint64_t* words = record_begin(5);
    if (!words) return;
    probed(words, source, tag, comm, status);
    words[4] = message_value(message);
    record_commit(call, CALL_MPROBE, 0, 5);
}

void record_mrecv(const Call* call, uint64_t message, const MPI_Status* status) {
    uint64_t* words = record_begin(3);
    if (!words) return;
    words[0] = message;
    received(status, words + 1);
    record_commit(call, CALL_MRECV, 0, 3);
}

void record_imrecv(const Call* call, uint64_t message, MPI_Request request) {
    uint64_t* words = record_begin(2);
    if (!words) return;
    words[0] = message;
    words[1] = request_value(request);
    record_commit(call, CALL_IMRECV, 0, 2);
}

static bool was_cancelled(const MPI_Status* status) {
    int flag = 0;
    if (any_cancelled) PMPI_Test_cancelled(status, &flag);
    return flag != 0;
}

// Writes a completed request to `words`. Returns the number of words written.
static size_t completion(const Call* call, uint64_t* words, uint64_t request, const MPI_Status* status) {
    bool has_status = true;
    if (request == request_value(MPI_REQUEST_NULL) || !request_completes(request, call->begin, &has_status)) return 0;
    comm_completed(request, call->begin);
    const bool known = has_status && status != MPI_STATUS_IGNORE && !was_cancelled(status);
    words[0] = request;
    received(known ? status : MPI_STATUS_IGNORE, words + 1);
    return 3;
}

static const MPI_Status* status_at(const MPI_Status* statuses, int i) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

static size_t completions(const Call* call, uint64_t* words, int n, const uint64_t* requests,
                          const MPI_Status* statuses) {
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        const MPI_Status* status = status_at(statuses, i);
        const bool told = call->error == MPI_ERR_IN_STATUS && status != MPI_STATUS_IGNORE;
        if (told && status->MPI_ERROR == MPI_ERR_PENDING) continue;
        used += completion(call, words + used, requests[i], status);
    }
    return used;
}

// Ends the record of a wait, or of a test that completed something; a test that completed nothing is a poll.
static void commit_completions(const Call* call, unsigned id, size_t used) {
    if (used > 0 || id < CALL_TEST) {
        record_commit(call, id, 0, used);
    } else {
        record_poll(call);
    }
}

void record_wait(const Call* call, unsigned id, uint64_t request, const MPI_Status* status) {
    uint64_t* words = record_begin(3);
    if (words) commit_completions(call, id, completion(call, words, request, status));
}

void record_waitall(const Call* call, unsigned id, int n, const uint64_t* requests, const MPI_Status* statuses) {
    uint64_t* words = requests ? record_begin(3 * (size_t)n) : NULL;
    if (words) commit_completions(call, id, completions(call, words, n, requests, statuses));
}

void record_waitany(const Call* call, unsigned id, int index, int first, const uint64_t* requests,
                    const MPI_Status* status) {
    const bool none = index == MPI_UNDEFINED || !requests;
    record_wait(call, id, none ? request_value(MPI_REQUEST_NULL) : requests[index - first], status);
}

void record_waitsome(const Call* call, unsigned id, int completed, const int* indices, int first,
                     const uint64_t* requests, const MPI_Status* statuses) {
    const int n = completed == MPI_UNDEFINED || !requests ? 0 : completed;
    uint64_t* words = record_begin(3 * (size_t)n);
    if (!words) return;
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        used += completion(call, words + used, requests[indices[i] - first], status_at(statuses, i));
    }
    commit_completions(call, id, used);
}

void record_test(const Call* call, int flag, uint64_t request, const MPI_Status* status) {
    if (flag) {
        record_wait(call, CALL_TEST, request, status);
    } else {
        record_poll(call);
    }
}

void record_testall(const Call* call, int flag, int n, const uint64_t* requests, const MPI_Status* statuses) {
    // With MPI_ERR_IN_STATUS some requests may have completed though the flag is false.
    if (flag || call->error == MPI_ERR_IN_STATUS) {
        record_waitall(call, CALL_TESTALL, n, requests, statuses);
    } else {
        record_poll(call);
    }
}

void record_testany(const Call* call, int flag, int index, int first, const uint64_t* requests,
                    const MPI_Status* status) {
    if (flag) {
        record_waitany(call, CALL_TESTANY, index, first, requests, status);
    } else {
        record_poll(call);
    }
}

void record_testsome(const Call* call, int completed, const int* indices, int first, const uint64_t* requests,
                     const MPI_Status* statuses) {
    record_waitsome(call, CALL_TESTSOME, completed, indices, first, requests, statuses);
}

Outcome outcome_of_cancelled(MPI_Request request) {
    Outcome outcome = {0};
    if (!any_cancelled || request == MPI_REQUEST_NULL) return outcome;
    session_lock();
    const bool asks = may_be_cancelled(request_value(request));
    session_unlock();
    if (asks) PMPI_Request_get_status(request, &outcome.known, &outcome.status);
    return outcome;
}

void record_request_free(const Call* call, uint64_t request, const Outcome* outcome) {
    if (request == request_value(MPI_REQUEST_NULL)) return;  // an error, which is not known yet
    persistent_remove(request, call->begin);
    uint64_t* words = record_begin(3);
    if (!words) return;
    words[0] = request;
    if (outcome->known) received(was_cancelled(&outcome->status) ? MPI_STATUS_IGNORE : &outcome->status, words + 1);
    record_commit(call, CALL_REQUEST_FREE, 0, outcome->known ? 3 : 1);
}

void record_cancel(const Call* call, uint64_t request) {
    any_cancelled = true;
    cancelled_requests.handles[cancelled_requests.next++ % CANCELLED] = request;
    record_word(call, CALL_CANCEL, request);
}

void record_start(const Call* call, uint64_t request) {
    persistent_start(request, call->begin);
    record_word(call, CALL_START, request);
}

void record_startall(const Call* call, int n, const uint64_t* requests) {
    // Each request has a record; only the first has the call's time, so that it is not counted n times.
    for (int i = 0; requests && i < n; i++) {
        const Call rest = record_at_end(call);
        record_start(i == 0 ? call : &rest, requests[i]);
    }
}
