#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "pdes/mail.hpp"

namespace idlewave::pdes {

/// One partition's part in finding the global virtual time (GVT), before which nothing can be told any more, while all
/// go on (F. Mattern: Efficient algorithms for distributed snapshots and global virtual time approximation, JPDC 18(4),
/// 1993). Mails carry their sender's epoch; a partition that begins a new one says again and again how many mails of
/// the last it has sent and received, what waits, and what it told since, until the mails are even. All that was under
/// way is then either received, or was told since.
class Gvt {
  public:
    static constexpr std::int64_t nothing = Cut::nothing;

    /// How a partition stands, of which its own part of a cut is made.
    struct Standing {
        std::int64_t waiting = nothing;  ///< the cell of the first event that waits
        std::int64_t handled = 0;
        bool wants_pause = false;
    };

    /// `first`: nothing is before this cell.
    explicit Gvt(std::int64_t first = 0) : cell_(first) {}

    [[nodiscard]] std::int64_t cell() const { return cell_; }
    /// The first cell that may still be told of something from elsewhere; the kernel's lookahead apart.
    [[nodiscard]] std::int64_t told_from() const { return cut_.sent; }
    /// What was agreed upon last.
    [[nodiscard]] const Cut& cut() const { return cut_; }
    [[nodiscard]] std::uint64_t rounds() const { return rounds_; }
    [[nodiscard]] bool asking() const { return asking_; }

    [[nodiscard]] std::uint32_t epoch() const { return epoch_; }
    void sent() { ++balance_[epoch_ % 2]; }
    void received(std::uint32_t epoch) { --balance_[epoch % 2]; }
    /// Something was told elsewhere, in `cell`.
    void told(std::int64_t cell) { told_ = std::min(told_, cell); }

    /// Begins an epoch; all that was told before has to be sent.
    template <class Port>
    void begin(Port& port, const Standing& standing) {
        asking_ = true;
        ++epoch_;
        told_ = nothing;
        contribute(port, standing);
    }

    /// Whether GVT is known anew. While it is not, `standing` may be asked for again.
    template <class Port, class Stand>
    bool poll(Port& port, Stand standing) {
        Cut cut;
        if (!asking_ || !port.agreed(cut)) {
            return false;
        }
        if (cut.in_transit != 0) {
            contribute(port, standing());
            return false;
        }
        cell_ = std::min(cut.waiting, cut.sent);
        cut_ = cut;
        asking_ = false;
        ++rounds_;
        return true;
    }

  private:
    template <class Port>
    void contribute(Port& port, const Standing& standing) {
        port.contribute({.in_transit = balance_[(epoch_ + 1) % 2],
                         .handled = standing.handled,
                         .waiting = standing.waiting,
                         .sent = told_,
                         .goes_on = standing.wants_pause ? 0 : 1,
                         .busiest = -standing.handled});
    }

    std::int64_t cell_;
    Cut cut_ = {.waiting = 0, .sent = 0};
    std::uint32_t epoch_ = 0;
    std::array<std::int64_t, 2> balance_ = {};  ///< of an epoch's mails: sent less received
    std::int64_t told_ = nothing;
    bool asking_ = false;
    std::uint64_t rounds_ = 0;
};

}  // namespace idlewave::pdes
