// The exchange by sends and receives: a slab's pieces leave as soon as it is transformed, and its receivers go on with
// it as soon as they have it from all.
#include <vector>

#include "exchange.hpp"
#include "memory.hpp"

namespace ft {
namespace {

class TwoSided final : public Exchange {
  public:
    TwoSided(const Team& team, size_t numbers)
        : Exchange(team, Order::by_slab), sent_(allocate(numbers)), received_(allocate(numbers)) {
        use(sent_.get(), received_.get(), true);
    }

    void send(int slab) override {
        size_t next = first_of(slab);
        for (int step = 1; step < members(); ++step) {
            const int to = other(step);
            MPI_Isend(outgoing(slab, to), 1, piece_type(), to, 0, team().ranks, &sends_[next++]);
        }
        count_bytes_of(1);
        // Most libraries go on with a large message only within calls.
        int done = 0;
        MPI_Testall(static_cast<int>(receives_.size()), receives_.data(), &done, MPI_STATUSES_IGNORE);
    }

    void wait_for(int slab) override { MPI_Waitall(members() - 1, &receives_[first_of(slab)], MPI_STATUSES_IGNORE); }

    void end() override { MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE); }

  private:
    size_t first_of(int slab) const { return static_cast<size_t>(slab) * static_cast<size_t>(members() - 1); }

    // All receives are posted before any message can come, so that none has to be stored. Messages of a pair of ranks
    // do not overtake each other: they need no tags.
    void begun() override {
        sends_.assign(first_of(cut().slabs), MPI_REQUEST_NULL);
        receives_.assign(first_of(cut().slabs), MPI_REQUEST_NULL);
        size_t next = 0;
        for (int slab = 0; slab < cut().slabs; ++slab) {
            for (int step = 1; step < members(); ++step) {
                const int from = other(members() - step);
                MPI_Irecv(received_.get() + offset(slab, from), 1, piece_type(), from, 0, team().ranks,
                          &receives_[next++]);
            }
        }
    }

    Memory sent_;
    Memory received_;
    std::vector<MPI_Request> sends_;
    std::vector<MPI_Request> receives_;
};

}  // namespace

std::unique_ptr<Exchange> make_two_sided(const Team& team, size_t numbers) {
    return std::make_unique<TwoSided>(team, numbers);
}

}  // namespace ft
