! The classes of calls that differ in Fortran: constants, arrays of handles and statuses, logicals, indices from 1.
program calls
  use mpi
  implicit none
  integer :: ierror, rank, ranks, partner, i, index, done, request, requests(3), sent(1), indices(3)
  integer :: statuses(MPI_STATUS_SIZE, 3), status(MPI_STATUS_SIZE), comm, types(64), counts(64), zeroes(64)
  integer :: out(1000), in(1000)
  logical :: flag

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  partner = ieor(rank, 1)
  out = rank
  counts = 1
  types = MPI_INTEGER
  do i = 1, 64
    zeroes(i) = 4 * i
  end do

  call mpi_irecv(in, 100, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, request, ierror)
  call mpi_send(out, 5, MPI_INTEGER, partner, 1, MPI_COMM_WORLD, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call mpi_sendrecv(out, 6, MPI_INTEGER, partner, 2, in, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                    MPI_COMM_WORLD, status, ierror)
  if (status(MPI_SOURCE) /= partner) stop 'status changed'
  do i = 1, 3
    call mpi_irecv(in(100 * i), 100, MPI_INTEGER, MPI_ANY_SOURCE, 2 + i, MPI_COMM_WORLD, requests(i), ierror)
  end do
  do i = 1, 3
    call mpi_send(out, i, MPI_INTEGER, partner, 2 + i, MPI_COMM_WORLD, ierror)
  end do
  call mpi_waitany(3, requests, index, MPI_STATUS_IGNORE, ierror)
  call mpi_waitsome(3, requests, done, indices, MPI_STATUSES_IGNORE, ierror)
  call mpi_waitall(3, requests, MPI_STATUSES_IGNORE, ierror)
  call mpi_isend(out, 7, MPI_INTEGER, partner, 9, MPI_COMM_WORLD, sent(1), ierror)
  flag = .false.
  do while (.not. flag)
    call mpi_iprobe(partner, 9, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierror)
  end do
  call mpi_recv(in, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call mpi_waitall(1, sent, statuses, ierror)
  call mpi_comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm, ierror)
  call mpi_allreduce(MPI_IN_PLACE, in, 8, MPI_INTEGER, MPI_SUM, comm, ierror)
  call mpi_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INTEGER, comm, ierror)
  call mpi_comm_free(comm, ierror)
  call mpi_alltoallw(out, counts, zeroes, types, in, counts, zeroes, types, MPI_COMM_WORLD, ierror)
  call mpi_comm_idup(MPI_COMM_WORLD, comm, request, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call mpi_barrier(comm, ierror)
  if (rank == 0) print '(a)', 'calls: done'
  call mpi_finalize(ierror)
end program calls
