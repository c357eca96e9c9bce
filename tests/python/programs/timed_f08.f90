! A window, a put between fences, and a file that both ranks write together; mpi_f08.
program timed
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, data(100)
  integer, pointer :: memory(:)
  type(c_ptr) :: base
  type(MPI_Win) :: window
  type(MPI_File) :: file
  character(len=512) :: name

  call mpi_init()
  call mpi_comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, name)
  data = rank
  call mpi_win_allocate(400_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window)
  call c_f_pointer(base, memory, [100])
  call mpi_win_fence(0, window)
  call mpi_put(data, 50, MPI_INTEGER, 1 - rank, 0_MPI_ADDRESS_KIND, 50, MPI_INTEGER, window)
  call mpi_win_fence(0, window)
  if (memory(1) /= 1 - rank) stop 'nothing was put'
  call mpi_win_free(window)
  call mpi_file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file)
  call mpi_file_set_view(file, 400_MPI_OFFSET_KIND * rank, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  call mpi_file_write_all(file, data, 100, MPI_INTEGER, MPI_STATUS_IGNORE)
  call mpi_file_close(file)
  call mpi_finalize()
end program timed
