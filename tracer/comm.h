// Communicators: ids that are equal on all members, stored as an MPI attribute of each communicator.
#ifndef IDLEWAVE_COMM_H
#define IDLEWAVE_COMM_H

#include <mpi.h>
#include <string.h>

#include "fint.h"
#include "record.h"

typedef struct {
    uint64_t id;
    uint64_t children;  // number of communicators made from it
    int peers;          // number of ranks that a call can name: the remote group's on an intercommunicator
    int rank;           // this process's rank
    bool inter;
} Comm;

// The numbers of neighbours of this process in a communicator's topology, from which it receives and to which it sends.
typedef struct {
    int in;
    int out;
} Degrees;
Degrees degrees_of(MPI_Comm comm);

// Creates the attribute's key. Call it once, after MPI_Init.
void comm_start(void);

// Returns the data of `comm`; never NULL. A communicator whose creation was not recorded has COMM_ID_UNKNOWN.
Comm* comm_of(MPI_Comm comm);

// Returns an id for an object (a window, a file) that a collective call makes from `comm`: equal on all its ranks.
uint64_t comm_object_id(MPI_Comm comm);

// Forgets the pointer that comm_of stores for the next call. Call it before a communicator may be freed.
void comm_forget(void);

// Records that `made` was made from `parent` by a call that is collective over `parent`.
void record_comm(const Call* call, MPI_Comm parent, MPI_Comm made);

// The same for MPI_Comm_create_group, which only the members of `made` call.
void record_comm_group(const Call* call, MPI_Comm parent, MPI_Comm made, int tag);

// The same for MPI_Intercomm_create.
void record_intercomm(const Call* call, MPI_Comm local, MPI_Comm made, int tag);

// A text of the program: in C it ends with a zero, in Fortran with blanks.
typedef struct {
    const char* first;
    size_t length;
} Text;
static inline Text c_text(const char* text) {
    return (Text){text, strlen(text)};
}
static inline Text fortran_text(const char* text, size_t length) {
    while (length > 0 && text[length - 1] == ' ') length--;
    return (Text){text, length};
}

// The same for communicators that have no parent (MPI 4.1, 7.4.2): those of sessions.
void record_comm_from_group(const Call* call, MPI_Comm made, Text text);

// The same for MPI_Comm_idup: the definition is recorded now, but `made` gets its attribute only when `request`
// completes in a call that began at `begin` (comm_completed); until then MPI forbids its use. Fortran stores the handle
// in an integer.
void record_comm_idup(const Call* call, MPI_Comm parent, const MPI_Comm* made, MPI_Request request);
void record_comm_idup_fortran(const Call* call, MPI_Comm parent, const MPI_Fint* made, MPI_Request request);
void comm_completed(uint64_t request, int64_t begin);

// Records that the communicator with this id is freed.
void record_comm_free(const Call* call, uint64_t id);

#endif
