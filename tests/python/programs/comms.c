// Makes communicators in every way, with histories that differ between ranks, and uses each of them: on every
// communicator that a rank belongs to there is one Allreduce of as many ints as the communicator's number
// here. Writes, for every number, the world ranks of its members to the file members-RANK in the folder that
// the argument names.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;
static FILE* file;

static void use(MPI_Comm comm, int number) {
    if (comm == MPI_COMM_NULL) return;
    static int in[64], out[64];
    MPI_Allreduce(in, out, number, MPI_INT, MPI_SUM, comm);
    int inter = 0;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Group group, world;
    if (inter) {
        MPI_Comm_remote_group(comm, &group);
    } else {
        MPI_Comm_group(comm, &group);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int size;
    MPI_Group_size(group, &size);
    char line[512];
    int length = snprintf(line, sizeof line, "%d %d:", number, rank);
    for (int i = 0; i < size; i++) {
        int member;
        MPI_Group_translate_ranks(group, 1, &i, world, &member);
        length += snprintf(line + length, sizeof line - (size_t)length, " %d", member);
    }
    fprintf(file, "%s\n", line);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static MPI_Comm of_group(const int* members, int n, int tag) {
    MPI_Group world, group;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, members, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &made);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return made;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char path[1024];
    snprintf(path, sizeof path, "%s/members-%d", argc > 1 ? argv[1] : ".", rank);
    file = fopen(path, "w");
    if (!file) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm c[16];
    for (int i = 0; i < 16; i++) c[i] = MPI_COMM_NULL;

    // Only ranks 0 and 1 make these: what the others make afterwards must still get the same ids everywhere.
    if (rank < 2) {
        c[1] = of_group((int[]){1, 0}, 2, 7);
        c[2] = of_group((int[]){1, 0}, 2, 7);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &c[3]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &c[4]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &c[5]);
    MPI_Comm_split_type(c[3], MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &c[6]);
    MPI_Request request;
    MPI_Comm_idup(c[4], &c[7], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_dup_with_info(c[7], MPI_INFO_NULL, &c[8]);
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &c[9]);
    MPI_Group_free(&group);
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){ranks / 2, 2}, (int[]){1, 0}, 0, &c[10]);
    MPI_Cart_sub(c[10], (int[]){1, 0}, &c[11]);
    MPI_Intercomm_create(c[4], 0, MPI_COMM_WORLD, rank % 2 ? (ranks - 2) : (ranks - 1), 5, &c[12]);
    MPI_Intercomm_merge(c[12], rank % 2, &c[13]);
    MPI_Comm_dup(c[12], &c[14]);
    for (int i = 1; i < 15; i++) use(c[i], i);
    for (int i = 1; i < 15; i++) {
        if (c[i] != MPI_COMM_NULL) MPI_Comm_free(&c[i]);
    }
    // A communicator in the place of a freed one, of which nothing may be left.
    MPI_Comm_dup(MPI_COMM_SELF, &c[15]);
    use(c[15], 15);
    MPI_Comm_disconnect(&c[15]);
    fclose(file);
    MPI_Finalize();
    return 0;
}
