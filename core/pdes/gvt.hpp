#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "pdes/mail.hpp"

namespace idlewave::pdes {

/// One partition's part in finding the global virtual time (GVT), before which nothing can be told any more, while all
/// go on (F. Mattern: Efficient algorithms for distributed snapshots and global virtual time approximation, JPDC 18(4),
/// 1993). Mails carry their sender's epoch; a partition that begins a new one says again and again how many mails of
/// the last it has sent and received, what waits, and what it told since, until the mails are even. All that was under
/// way is then either received, or was told since.
class Gvt {
  public:
    static constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] std::int64_t cell() const { return cell_; }
    /// The first cell that may still be told of something from elsewhere; the kernel's lookahead apart.
    [[nodiscard]] std::int64_t told_from() const { return told_from_; }
    [[nodiscard]] std::uint64_t rounds() const { return rounds_; }
    [[nodiscard]] bool asking() const { return asking_; }

    [[nodiscard]] std::uint32_t epoch() const { return epoch_; }
    void sent() { ++balance_[epoch_ % 2]; }
    void received(std::uint32_t epoch) { --balance_[epoch % 2]; }
    /// Something was told elsewhere, in `cell`.
    void told(std::int64_t cell) { told_ = std::min(told_, cell); }

    /// Begins an epoch; all that was told before has to be sent. `waiting`: the cell of the first event that waits.
    template <class Port>
    void begin(Port& port, std::int64_t waiting) {
        asking_ = true;
        ++epoch_;
        told_ = nothing;
        contribute(port, waiting);
    }

    /// Whether GVT is known anew. While it is not, `first_waiting` may be asked again.
    template <class Port, class FirstWaiting>
    bool poll(Port& port, FirstWaiting first_waiting) {
        Cut cut;
        if (!asking_ || !port.agreed(cut)) {
            return false;
        }
        if (cut.in_transit != 0) {
            contribute(port, first_waiting());
            return false;
        }
        cell_ = std::min(cut.waiting, cut.sent);
        told_from_ = cut.sent;
        asking_ = false;
        ++rounds_;
        return true;
    }

  private:
    template <class Port>
    void contribute(Port& port, std::int64_t waiting) {
        port.contribute({balance_[(epoch_ + 1) % 2], waiting, told_});
    }

    std::int64_t cell_ = 0;
    std::int64_t told_from_ = 0;
    std::uint32_t epoch_ = 0;
    std::array<std::int64_t, 2> balance_ = {};  ///< of an epoch's mails: sent less received
    std::int64_t told_ = nothing;
    bool asking_ = false;
    std::uint64_t rounds_ = 0;
};

}  // namespace idlewave::pdes
