// The records of point-to-point calls. Call these functions between call_leave and call_done.
#ifndef IDLEWAVE_P2P_H
#define IDLEWAVE_P2P_H

#include <mpi.h>

#include "record.h"

// count x the datatype's size, in bytes; 0 for MPI_DATATYPE_NULL.
int64_t bytes_of(int64_t count, MPI_Datatype datatype);

void record_send(const Call* call, unsigned id, int64_t count, MPI_Datatype datatype, int destination, int tag,
                 MPI_Comm comm);
void record_send_init(const Call* call, unsigned info, int64_t count, MPI_Datatype datatype, int destination, int tag,
                      MPI_Comm comm, MPI_Request request);
void record_isend(const Call* call, unsigned id, int64_t count, MPI_Datatype datatype, int destination, int tag,
                  MPI_Comm comm, MPI_Request request);
void record_recv(const Call* call, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 const MPI_Status* status);
void record_irecv(const Call* call, unsigned id, int64_t count, MPI_Datatype datatype, int source, int tag,
                  MPI_Comm comm, MPI_Request request);
void record_sendrecv(const Call* call, int64_t sendcount, MPI_Datatype sendtype, int destination, int sendtag,
                     int64_t recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                     const MPI_Status* status);

void record_isendrecv(const Call* call, int64_t sendcount, MPI_Datatype sendtype, int destination, int sendtag,
                      int64_t recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                      MPI_Request request);

// Partitioned messages. Open MPI declares the list without const.
#ifdef OPEN_MPI
typedef int* PartitionList;
#else
typedef const int* PartitionList;
#endif
void record_psend_init(const Call* call, int partitions, int64_t count, MPI_Datatype datatype, int destination, int tag,
                       MPI_Comm comm, MPI_Request request);
void record_precv_init(const Call* call, int partitions, int64_t count, MPI_Datatype datatype, int source, int tag,
                       MPI_Comm comm, MPI_Request request);
// `partitions` more are ready.
void record_pready(const Call* call, int partitions, MPI_Request request);
void record_parrived(const Call* call, int flag, int partition, MPI_Request request);

void record_probe(const Call* call, int source, int tag, MPI_Comm comm, const MPI_Status* status);
void record_mprobe(const Call* call, int source, int tag, MPI_Comm comm, MPI_Message message, const MPI_Status* status);
void record_mrecv(const Call* call, uint64_t message, const MPI_Status* status);
void record_imrecv(const Call* call, uint64_t message, MPI_Request request);

// Completions. `requests` are the handles' values from before the call.
void record_wait(const Call* call, unsigned id, uint64_t request, const MPI_Status* status);
void record_waitall(const Call* call, unsigned id, int n, const uint64_t* requests, const MPI_Status* statuses);
// `first` is the number of the first request: 0 in C, 1 in Fortran.
void record_waitany(const Call* call, unsigned id, int index, int first, const uint64_t* requests,
                    const MPI_Status* status);
void record_waitsome(const Call* call, unsigned id, int completed, const int* indices, int first,
                     const uint64_t* requests, const MPI_Status* statuses);

// Tests: they record what completed, or a poll.
void record_test(const Call* call, int flag, uint64_t request, const MPI_Status* status);
void record_testall(const Call* call, int flag, int n, const uint64_t* requests, const MPI_Status* statuses);
void record_testany(const Call* call, int flag, int index, int first, const uint64_t* requests,
                    const MPI_Status* status);
void record_testsome(const Call* call, int completed, const int* indices, int first, const uint64_t* requests,
                     const MPI_Status* statuses);

// What became of a request that the program has cancelled: it took a message, or none.
typedef struct {
    int known;
    MPI_Status status;
} Outcome;

// Asks the MPI what became of a request that was cancelled. Of another request nothing is known. Call it before the MPI
// frees the request, without the lock.
Outcome outcome_of_cancelled(MPI_Request request);

// The record has the outcome, where it is known.
void record_request_free(const Call* call, uint64_t request, const Outcome* outcome);
void record_cancel(const Call* call, uint64_t request);
void record_start(const Call* call, uint64_t request);
void record_startall(const Call* call, int n, const uint64_t* requests);

#endif
