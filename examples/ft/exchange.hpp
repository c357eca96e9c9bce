// An exchange within a team: every member sends one piece of each of its slabs to every member.
//
// The variants differ in when and by which calls the pieces travel, and in nothing else: the same pieces, so the same
// bytes, from and to buffers of the same size. Whoever transforms writes straight into the outgoing pieces and reads
// straight from the incoming ones.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "decomposition.hpp"
#include "problem.hpp"

namespace ft {

enum class Way { alltoall, two_sided, put, packed_put, ialltoall };

std::optional<Way> find_way(std::string_view name);
const char* name_of(Way way);

// What is exchanged at once: the same for all members. The product does not exceed the buffers of the exchange.
struct Cut {
    int slabs = 0;
    int piece = 0;  // numbers
};

// In this order: begin; for each slab fill its outgoing pieces and send it; wait for each slab and read its incoming
// pieces; end. Slabs are sent, and waited for, in order.
class Exchange {
  public:
    virtual ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    Exchange(Exchange&&) = delete;
    Exchange& operator=(Exchange&&) = delete;

    void begin(Cut cut);
    Complex* outgoing(int slab, int member) const {
        return (member == team_.self && own_arrive_at_once_ ? received_ : sent_) + offset(slab, member);
    }
    virtual void send(int slab) = 0;
    virtual void wait_for(int slab) = 0;
    const Complex* incoming(int slab, int member) const { return received_ + offset(slab, member); }
    // The distance of the pieces that a member sent of successive slabs.
    size_t slab_stride() const { return offset(1, 0) - offset(0, 0); }
    virtual void end() = 0;

    // Each slab arrives when it is sent, and lies where the one before it lay.
    bool passes_on() const { return order_ == Order::one_slab; }
    int members() const { return team_.members; }
    // The bytes that this rank has sent to others since the last call.
    int64_t take_bytes_sent();

  protected:
    // How the pieces lie: those of a slab together, or those of a member, or there is room for one slab.
    enum class Order { by_slab, by_member, one_slab };

    Exchange(const Team& team, Order order) : team_(team), order_(order) {}

    // The buffers, and whether a rank's pieces for itself are written to where they arrive, so that nothing copies
    // them.
    void use(Complex* sent, Complex* received, bool own_arrive_at_once);
    virtual void begun() {}

    size_t offset(int slab, int member) const;
    // The member to send to as the `step`-th: each begins with the one after itself, so that none gets all at once.
    int other(int step) const { return (team_.self + step) % team_.members; }
    void count_bytes_of(int slabs);
    const Team& team() const { return team_; }
    const Cut& cut() const { return cut_; }
    MPI_Datatype piece_type() const { return piece_type_; }
    bool own_arrive_at_once() const { return own_arrive_at_once_; }

  private:
    Team team_;
    Order order_;
    Cut cut_;
    MPI_Datatype piece_type_ = MPI_DATATYPE_NULL;
    Complex* sent_ = nullptr;
    Complex* received_ = nullptr;
    bool own_arrive_at_once_ = true;
    int64_t bytes_sent_ = 0;
};

// An exchange for a team, with buffers for `numbers`. Collective over all ranks. In a team of one, nothing is sent:
// with `one_slab` such an exchange has room for a single slab and passes on each.
std::unique_ptr<Exchange> make_exchange(Way way, const Team& team, size_t numbers, bool one_slab);

// Each variant.
std::unique_ptr<Exchange> make_alltoall(const Team& team, size_t numbers);
std::unique_ptr<Exchange> make_ialltoall(const Team& team, size_t numbers);
std::unique_ptr<Exchange> make_two_sided(const Team& team, size_t numbers);
std::unique_ptr<Exchange> make_put(const Team& team, size_t numbers);
std::unique_ptr<Exchange> make_packed_put(const Team& team, size_t numbers);

}  // namespace ft
