// The one-sided exchanges: puts into windows that are open all the time, of each slab as soon as it is transformed, or
// of all slabs together.
//
// Of MPI's three ways to synchronise, this is the one that lets a put travel while its origin computes: a lock of all
// for the whole run, a flush once all is put, which ends when the data are there, and a barrier, which tells the team
// so. A fence would do the same, but may delay all puts to its end; post, start, complete and wait would name each rank
// twice for what one barrier says. A slab could be announced for itself only by a flush of its own, in which the origin
// would wait instead of computing.
#include <exception>
#include <numeric>
#include <vector>

#include "exchange.hpp"
#include "memory.hpp"

namespace ft {
namespace {

class Window {
  public:
    // Of all ranks, though a rank puts to its team alone: Open MPI 4 cannot make windows of several teams of a node at
    // the same time, because it gives their files the same name.
    explicit Window(size_t numbers) {
        void* memory = nullptr;
        MPI_Win_allocate(static_cast<MPI_Aint>(numbers * sizeof(Complex)), sizeof(Complex), MPI_INFO_NULL,
                         MPI_COMM_WORLD, static_cast<void*>(&memory), &window_);
        memory_ = static_cast<Complex*>(memory);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    }
    // After an exception the other ranks do not come here, for which both calls would wait: main aborts the program.
    ~Window() {
        if (std::uncaught_exceptions() > 0) return;
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    Window(Window&&) = delete;
    Window& operator=(Window&&) = delete;

    MPI_Win handle() const { return window_; }
    Complex* memory() const { return memory_; }
    // Whether a rank may write to its own memory while others put beside it.
    bool unified() const {
        int* model = nullptr;
        int found = 0;
        MPI_Win_get_attr(window_, MPI_WIN_MODEL, static_cast<void*>(&model), &found);
        return found != 0 && *model == MPI_WIN_UNIFIED;
    }

  private:
    MPI_Win window_ = MPI_WIN_NULL;
    Complex* memory_ = nullptr;
};

// The ranks of a team's members among all ranks.
std::vector<int> ranks_of(const Team& team) {
    std::vector<int> members(static_cast<size_t>(team.members));
    std::iota(members.begin(), members.end(), 0);
    std::vector<int> ranks(members.size());
    MPI_Group of_team = MPI_GROUP_NULL;
    MPI_Group of_all = MPI_GROUP_NULL;
    MPI_Comm_group(team.ranks, &of_team);
    MPI_Comm_group(MPI_COMM_WORLD, &of_all);
    MPI_Group_translate_ranks(of_team, team.members, members.data(), of_all, ranks.data());
    MPI_Group_free(&of_team);
    MPI_Group_free(&of_all);
    return ranks;
}

class Put final : public Exchange {
  public:
    Put(const Team& team, size_t numbers, bool packed)
        : Exchange(team, packed ? Order::by_member : Order::by_slab),
          packed_(packed),
          ranks_(ranks_of(team)),
          sent_(allocate(numbers)),
          window_(numbers) {
        use(sent_.get(), window_.memory(), window_.unified());
    }
    ~Put() override {
        if (std::uncaught_exceptions() == 0) wait_until_read_by_all();
    }
    Put(const Put&) = delete;
    Put& operator=(const Put&) = delete;
    Put(Put&&) = delete;
    Put& operator=(Put&&) = delete;

    void send(int slab) override {
        if (packed_ && slab != cut().slabs - 1) return;
        const int first = packed_ ? 0 : slab;
        const int slabs = packed_ ? cut().slabs : 1;
        for (int step = 1; step < members(); ++step) put(first, slabs, other(step));
        if (!own_arrive_at_once()) put(first, slabs, team().self);
        count_bytes_of(slabs);
    }

    void wait_for(int) override {
        if (arrived_) return;
        MPI_Win_flush_all(window_.handle());
        MPI_Barrier(team().ranks);
        MPI_Win_sync(window_.handle());
        arrived_ = true;
    }

    // The next exchange must not overwrite what a member still reads. That all have read is waited for as late as
    // possible.
    void end() override {
        MPI_Win_sync(window_.handle());
        MPI_Ibarrier(team().ranks, &read_by_all_);
    }

  private:
    void begun() override {
        wait_until_read_by_all();
        arrived_ = false;
    }
    void wait_until_read_by_all() {
        MPI_Wait(&read_by_all_, MPI_STATUS_IGNORE);  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)
    }

    // Pieces arrive as they left, but where they came from takes the place of where they went.
    void put(int first, int slabs, int to) {
        MPI_Put(sent_.get() + offset(first, to), slabs, piece_type(), ranks_[static_cast<size_t>(to)],
                static_cast<MPI_Aint>(offset(first, team().self)), slabs, piece_type(), window_.handle());
    }

    bool packed_;
    bool arrived_ = false;
    std::vector<int> ranks_;
    Memory sent_;
    Window window_;
    MPI_Request read_by_all_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Exchange> make_put(const Team& team, size_t numbers) {
    return std::make_unique<Put>(team, numbers, false);
}

std::unique_ptr<Exchange> make_packed_put(const Team& team, size_t numbers) {
    return std::make_unique<Put>(team, numbers, true);
}

}  // namespace ft
