// The records of MPI's files. Call these functions between call_leave and call_done.
#ifndef IDLEWAVE_FILE_H
#define IDLEWAVE_FILE_H

#include <mpi.h>
#include <stdbool.h>

#include "record.h"
#include "request.h"

void record_file_opened(const Call* call, MPI_Comm comm, MPI_File file);

// The id of a file that is about to be closed, and the record of the call that closed it.
uint64_t file_before_close(MPI_File file);
void record_file_closed(const Call* call, uint64_t id);

// `collective`: a blocking collective call, or the end of a split collective. `bytes` as the caller asked.
void record_file(const Call* call, int operation, bool collective, int64_t bytes, MPI_File file, Started started);

#endif
