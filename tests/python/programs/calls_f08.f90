! The same as calls_mpi.f90, with mpi_f08 and without error arguments.
program calls
  use mpi_f08
  implicit none
  integer :: rank, ranks, partner, i, index, done, indices(3)
  type(MPI_Request) :: request, requests(3), sent(1)
  type(MPI_Status) :: statuses(3), status
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: types(64)
  integer :: counts(64), zeroes(64)
  integer :: out(1000), in(1000)
  logical :: flag

  call mpi_init()
  call mpi_comm_rank(MPI_COMM_WORLD, rank)
  call mpi_comm_size(MPI_COMM_WORLD, ranks)
  partner = ieor(rank, 1)
  out = rank
  counts = 1
  types = MPI_INTEGER
  do i = 1, 64
    zeroes(i) = 4 * i
  end do

  call mpi_irecv(in, 100, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, request)
  call mpi_send(out, 5, MPI_INTEGER, partner, 1, MPI_COMM_WORLD)
  call mpi_wait(request, MPI_STATUS_IGNORE)
  call mpi_sendrecv(out, 6, MPI_INTEGER, partner, 2, in, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                    MPI_COMM_WORLD, status)
  if (status%MPI_SOURCE /= partner) stop 'status changed'
  do i = 1, 3
    call mpi_irecv(in(100 * i), 100, MPI_INTEGER, MPI_ANY_SOURCE, 2 + i, MPI_COMM_WORLD, requests(i))
  end do
  do i = 1, 3
    call mpi_send(out, i, MPI_INTEGER, partner, 2 + i, MPI_COMM_WORLD)
  end do
  call mpi_waitany(3, requests, index, MPI_STATUS_IGNORE)
  call mpi_waitsome(3, requests, done, indices, MPI_STATUSES_IGNORE)
  call mpi_waitall(3, requests, MPI_STATUSES_IGNORE)
  call mpi_isend(out, 7, MPI_INTEGER, partner, 9, MPI_COMM_WORLD, sent(1))
  flag = .false.
  do while (.not. flag)
    call mpi_iprobe(partner, 9, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
  end do
  call mpi_recv(in, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call mpi_waitall(1, sent, statuses)
  call mpi_comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm)
  call mpi_allreduce(MPI_IN_PLACE, in, 8, MPI_INTEGER, MPI_SUM, comm)
  call mpi_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INTEGER, comm)
  call mpi_comm_free(comm)
  call mpi_alltoallw(out, counts, zeroes, types, in, counts, zeroes, types, MPI_COMM_WORLD)
  call mpi_comm_idup(MPI_COMM_WORLD, comm, request)
  call mpi_wait(request, MPI_STATUS_IGNORE)
  call mpi_barrier(comm)
  if (rank == 0) print '(a)', 'calls: done'
  call mpi_finalize()
end program calls
