// All algorithms: a row for each, with the paper or MPI implementation that describes it. Of each collective the first
// one is the default. To add an algorithm, write its step function collective_name in a new file, add its row here, and
// describe it in docs/algorithms.md. This file is included more than once, each time with another IDLEWAVE_ALGORITHM.

IDLEWAVE_ALGORITHM(barrier, dissemination, hensgen)
IDLEWAVE_ALGORITHM(barrier, nway_dissemination,
                   "Hoefler, Mehlan, Mietke, Rehm: Fast barrier synchronization for InfiniBand, 2006")
IDLEWAVE_ALGORITHM(barrier, linear, schedgen)
IDLEWAVE_ALGORITHM(barrier, tree, "Open MPI, coll_base_barrier.c: tree")
IDLEWAVE_ALGORITHM(barrier, release_gather, release_gather)
IDLEWAVE_ALGORITHM(bcast, binomial, schedgen)
IDLEWAVE_ALGORITHM(bcast, linear, "Open MPI, coll_base_bcast.c: basic_linear")
IDLEWAVE_ALGORITHM(bcast, binary, "Open MPI, coll_base_bcast.c: bintree")
IDLEWAVE_ALGORITHM(bcast, chain, "Open MPI, coll_base_bcast.c: pipeline")
IDLEWAVE_ALGORITHM(
    bcast, scatter_allgather,
    "Barnett, Gupta, Payne, Shuler, van de Geijn, Watts: Interprocessor collective communication library, "
    "1994; as in MPICH, bcast_intra_scatter_ring_allgather.c")
IDLEWAVE_ALGORITHM(bcast, release_gather, release_gather)
IDLEWAVE_ALGORITHM(reduce, binomial, schedgen)
IDLEWAVE_ALGORITHM(reduce, linear, "Open MPI, coll_base_reduce.c: basic_linear")
IDLEWAVE_ALGORITHM(reduce, pipelined, "Open MPI, coll_base_reduce.c: pipeline")
IDLEWAVE_ALGORITHM(reduce, rabenseifner,
                   "Thakur, Rabenseifner, Gropp 2005; MPICH, reduce_intra_reduce_scatter_gather.c")
IDLEWAVE_ALGORITHM(reduce, release_gather, release_gather)
IDLEWAVE_ALGORITHM(allreduce, recursive_doubling, thakur)
IDLEWAVE_ALGORITHM(allreduce, ring, ring)
IDLEWAVE_ALGORITHM(allreduce, rabenseifner,
                   "Thakur, Rabenseifner, Gropp 2005; MPICH, allreduce_intra_reduce_scatter_allgather.c")
IDLEWAVE_ALGORITHM(allreduce, reduce_bcast, "Open MPI, coll_base_allreduce.c: nonoverlapping")
IDLEWAVE_ALGORITHM(allreduce, dissemination, schedgen)
IDLEWAVE_ALGORITHM(allreduce, release_gather, release_gather)
IDLEWAVE_ALGORITHM(gather, linear, schedgen)
IDLEWAVE_ALGORITHM(gather, binomial, "MPICH, gather_intra_binomial.c", VectorCounts::at_every_rank)
IDLEWAVE_ALGORITHM(scatter, linear, schedgen)
IDLEWAVE_ALGORITHM(scatter, binomial, "MPICH, scatter_intra_binomial.c", VectorCounts::at_every_rank)
IDLEWAVE_ALGORITHM(allgather, ring, thakur)
IDLEWAVE_ALGORITHM(allgather, recursive_doubling,
                   "Thakur, Rabenseifner, Gropp 2005; no power of two: MPICH, allgather_intra_recexch.c")
IDLEWAVE_ALGORITHM(allgather, bruck, bruck)
IDLEWAVE_ALGORITHM(
    allgather, neighbour_exchange,
    "Chen, Zhang, Zhang, Yuan: Performance evaluation of allgather algorithms on terascale Linux cluster with "
    "fast Ethernet, 2005; Open MPI, coll_base_allgather.c: neighborexchange")
IDLEWAVE_ALGORITHM(alltoall, linear, schedgen)
IDLEWAVE_ALGORITHM(alltoall, pairwise, thakur)
IDLEWAVE_ALGORITHM(alltoall, bruck, bruck, VectorCounts::unsupported)
IDLEWAVE_ALGORITHM(reduce_scatter, pairwise, thakur)
IDLEWAVE_ALGORITHM(reduce_scatter, ring, "Open MPI, coll_base_reduce_scatter.c: ring")
IDLEWAVE_ALGORITHM(reduce_scatter, halving,
                   "Thakur, Rabenseifner, Gropp 2005; Open MPI, coll_base_reduce_scatter.c: basic_recursivehalving")
IDLEWAVE_ALGORITHM(scan, recursive_doubling, "Open MPI, coll_base_scan.c: recursivedoubling; MPICH alike")
IDLEWAVE_ALGORITHM(scan, linear, "Open MPI, coll_basic_scan.c")
IDLEWAVE_ALGORITHM(exscan, recursive_doubling, "Open MPI, coll_base_exscan.c: recursivedoubling; MPICH alike")
IDLEWAVE_ALGORITHM(exscan, linear, "Open MPI, coll_basic_exscan.c")
