// Exchanges by collective operations: all slabs in one all-to-all, or each in a nonblocking one of its own.
#include <vector>

#include "exchange.hpp"
#include "memory.hpp"

namespace ft {
namespace {

class Alltoall final : public Exchange {
  public:
    Alltoall(const Team& team, size_t numbers)
        : Exchange(team, Order::by_member), sent_(allocate(numbers)), received_(allocate(numbers)) {
        use(sent_.get(), received_.get(), false);
    }

    void send(int slab) override {
        if (slab != cut().slabs - 1) return;
        MPI_Alltoall(sent_.get(), cut().slabs, piece_type(), received_.get(), cut().slabs, piece_type(), team().ranks);
        count_bytes_of(cut().slabs);
    }
    void wait_for(int) override {}
    void end() override {}

  private:
    Memory sent_;
    Memory received_;
};

class Ialltoall final : public Exchange {
  public:
    Ialltoall(const Team& team, size_t numbers)
        : Exchange(team, Order::by_slab), sent_(allocate(numbers)), received_(allocate(numbers)) {
        use(sent_.get(), received_.get(), false);
    }

    void send(int slab) override {
        MPI_Ialltoall(outgoing(slab, 0), 1, piece_type(), received_.get() + offset(slab, 0), 1, piece_type(),
                      team().ranks, &requests_[static_cast<size_t>(slab)]);
        count_bytes_of(1);
        // Most libraries go on with an operation only within calls.
        int done = 0;
        MPI_Testall(slab + 1, requests_.data(), &done, MPI_STATUSES_IGNORE);
    }
    void wait_for(int slab) override { MPI_Wait(&requests_[static_cast<size_t>(slab)], MPI_STATUS_IGNORE); }
    void end() override {}

  private:
    void begun() override { requests_.assign(static_cast<size_t>(cut().slabs), MPI_REQUEST_NULL); }

    Memory sent_;
    Memory received_;
    std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Exchange> make_alltoall(const Team& team, size_t numbers) {
    return std::make_unique<Alltoall>(team, numbers);
}

std::unique_ptr<Exchange> make_ialltoall(const Team& team, size_t numbers) {
    return std::make_unique<Ialltoall>(team, numbers);
}

}  // namespace ft
