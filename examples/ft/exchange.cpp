#include "exchange.hpp"

#include <array>
#include <utility>

#include "memory.hpp"

namespace ft {
namespace {

constexpr std::array<std::pair<const char*, Way>, 5> ways{{
    {"alltoall", Way::alltoall},
    {"two-sided", Way::two_sided},
    {"put", Way::put},
    {"packed-put", Way::packed_put},
    {"ialltoall", Way::ialltoall},
}};

// A team of one: what goes out is what comes in.
class Alone final : public Exchange {
  public:
    Alone(const Team& team, size_t numbers, bool one_slab)
        : Exchange(team, one_slab ? Order::one_slab : Order::by_slab), memory_(allocate(numbers)) {
        use(memory_.get(), memory_.get(), true);
    }

    void send(int) override {}
    void wait_for(int) override {}
    void end() override {}

  private:
    Memory memory_;
};

}  // namespace

std::optional<Way> find_way(std::string_view name) {
    for (const auto& [known, way] : ways) {
        if (name == known) return way;
    }
    return std::nullopt;
}

const char* name_of(Way way) {
    return ways[static_cast<size_t>(way)].first;
}

Exchange::~Exchange() {
    if (piece_type_ != MPI_DATATYPE_NULL) MPI_Type_free(&piece_type_);
}

void Exchange::begin(Cut cut) {
    if (cut.piece != cut_.piece) {
        // Counts of pieces fit into an int; counts of numbers would not in large domains on few ranks.
        if (piece_type_ != MPI_DATATYPE_NULL) MPI_Type_free(&piece_type_);
        MPI_Type_contiguous(cut.piece, MPI_C_DOUBLE_COMPLEX, &piece_type_);
        MPI_Type_commit(&piece_type_);
    }
    cut_ = cut;
    begun();
}

void Exchange::use(Complex* sent, Complex* received, bool own_arrive_at_once) {
    sent_ = sent;
    received_ = received;
    own_arrive_at_once_ = own_arrive_at_once;
}

size_t Exchange::offset(int slab, int member) const {
    const auto row = static_cast<size_t>(slab);
    const auto column = static_cast<size_t>(member);
    const auto piece = static_cast<size_t>(cut_.piece);
    switch (order_) {
        case Order::by_slab:
            return (row * static_cast<size_t>(team_.members) + column) * piece;
        case Order::by_member:
            return (column * static_cast<size_t>(cut_.slabs) + row) * piece;
        case Order::one_slab:
            return column * piece;
    }
    return 0;
}

void Exchange::count_bytes_of(int slabs) {
    bytes_sent_ += int64_t{slabs} * cut_.piece * (team_.members - 1) * static_cast<int64_t>(sizeof(Complex));
}

int64_t Exchange::take_bytes_sent() {
    return std::exchange(bytes_sent_, 0);
}

std::unique_ptr<Exchange> make_exchange(Way way, const Team& team, size_t numbers, bool one_slab) {
    if (team.members == 1) return std::make_unique<Alone>(team, numbers, one_slab);
    switch (way) {
        case Way::alltoall:
            return make_alltoall(team, numbers);
        case Way::two_sided:
            return make_two_sided(team, numbers);
        case Way::put:
            return make_put(team, numbers);
        case Way::packed_put:
            return make_packed_put(team, numbers);
        case Way::ialltoall:
            return make_ialltoall(team, numbers);
    }
    return nullptr;
}

}  // namespace ft
