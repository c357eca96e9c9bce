#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "pdes/message_batch.hpp"

namespace idlewave::pdes {

/// One partition's part in finding the global virtual time (GVT): the time before which no event can come any more. It
/// is found while all partitions go on (F. Mattern: Efficient algorithms for distributed snapshots and global virtual
/// time approximation, JPDC 18(4), 1993). A message batch carries its sender's epoch. A partition that begins a new
/// epoch contributes how many batches of the last epoch it has sent and received, its earliest pending event, and the
/// earliest event that it has sent since, again and again until all batches of the last epoch are received. Every event
/// that was in transit has then been received, or was sent since.
class Gvt {
  public:
    static constexpr std::int64_t nothing = Cut::nothing;

    /// What a partition contributes to a cut, beside what this class counts.
    struct Contribution {
        std::int64_t first_pending = nothing;  ///< cell of the earliest pending event
        std::int64_t executed = 0;
        bool wants_pause = false;
    };

    /// `first`: no event lies before this cell.
    explicit Gvt(std::int64_t first = 0) : cell_(first) {}

    /// The cell of GVT.
    [[nodiscard]] std::int64_t cell() const { return cell_; }
    /// The earliest cell for which another partition may have sent an event since the cut.
    [[nodiscard]] std::int64_t first_sent() const { return cut_.first_sent; }
    /// The last cut that is complete.
    [[nodiscard]] const Cut& cut() const { return cut_; }
    [[nodiscard]] std::uint64_t rounds() const { return rounds_; }
    [[nodiscard]] bool in_round() const { return in_round_; }

    [[nodiscard]] std::uint32_t epoch() const { return epoch_; }
    void count_sent_batch() { ++in_transit_[epoch_ % 2]; }
    void count_received_batch(std::uint32_t epoch) { --in_transit_[epoch % 2]; }
    /// An event for `cell` was sent to another partition.
    void note_sent(std::int64_t cell) { first_sent_ = std::min(first_sent_, cell); }

    /// Begins an epoch. All batches must have left before.
    template <class Endpoint>
    void begin_round(Endpoint& endpoint, const Contribution& own) {
        in_round_ = true;
        ++epoch_;
        first_sent_ = nothing;
        contribute(endpoint, own);
    }

    /// Returns whether a new GVT is known. `contribution` is called where this partition has to contribute once more.
    template <class Endpoint, class Contribute>
    bool poll(Endpoint& endpoint, Contribute contribution) {
        Cut cut;
        if (!in_round_ || !endpoint.completed(cut)) {
            return false;
        }
        if (cut.in_transit != 0) {
            contribute(endpoint, contribution());
            return false;
        }
        cell_ = std::min(cut.first_pending, cut.first_sent);
        cut_ = cut;
        in_round_ = false;
        ++rounds_;
        return true;
    }

  private:
    template <class Endpoint>
    void contribute(Endpoint& endpoint, const Contribution& own) {
        endpoint.contribute({.in_transit = in_transit_[(epoch_ + 1) % 2],
                             .executed = own.executed,
                             .first_pending = own.first_pending,
                             .first_sent = first_sent_,
                             .continues = own.wants_pause ? 0 : 1,
                             .busiest = -own.executed});
    }

    std::int64_t cell_;
    Cut cut_ = {.first_pending = 0, .first_sent = 0};
    std::uint32_t epoch_ = 0;
    std::array<std::int64_t, 2> in_transit_ = {};  ///< batches of even and odd epochs: sent less received
    std::int64_t first_sent_ = nothing;
    bool in_round_ = false;
    std::uint64_t rounds_ = 0;
};

}  // namespace idlewave::pdes
