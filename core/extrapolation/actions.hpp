#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/program.hpp"

namespace idlewave::extrapolation {

/// What a traced rank does, in the order in which it does so. A blocking message is a message and a wait for it, so
/// that ranks that do the same in other words are alike.
struct Action {
    enum class Kind : std::uint8_t { send, synchronous_send, recv, collective, wait };

    Kind kind = Kind::wait;
    bool nonblocking = false;  ///< of a collective: a wait for it may follow
    std::uint32_t what = 0;    ///< of a message or collective its number in RankActions; of a wait its number there
    std::uint64_t ns = 0;      ///< computation before it
};

inline bool is_send(Action::Kind kind) {
    return kind == Action::Kind::send || kind == Action::Kind::synchronous_send;
}

inline bool is_message(Action::Kind kind) {
    return is_send(kind) || kind == Action::Kind::recv;
}

struct Message {
    std::uint32_t peer = 0;  ///< world rank, or `goal::any`
    std::uint32_t tag = 0;   ///< as in the program
    std::uint64_t size = 0;

    bool operator==(const Message&) const = default;
};

/// The actions of one rank.
class RankActions {
  public:
    explicit RankActions(const collectives::RankProgram& program);

    [[nodiscard]] std::span<const Action> all() const { return actions_; }
    [[nodiscard]] const Message& message(const Action& action) const { return messages_[action.what]; }
    [[nodiscard]] const collectives::CollectiveSite& collective(const Action& action) const {
        return program_->collectives[action.what];
    }
    /// The numbers of the actions for which a wait waits, in their order.
    [[nodiscard]] std::span<const std::uint32_t> awaited(const Action& wait) const {
        return std::span(awaited_).subspan(waits_[wait.what], waits_[wait.what + 1] - waits_[wait.what]);
    }
    /// Computation after the last action, in ns.
    [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }

  private:
    void add_wait(std::span<const std::uint32_t> slots);

    const collectives::RankProgram* program_;
    std::vector<Action> actions_;
    std::vector<Message> messages_;
    std::vector<std::uint32_t> waits_{0};  ///< where the awaited actions of each wait begin, and their end
    std::vector<std::uint32_t> awaited_;   ///< actions
    std::vector<std::uint32_t> in_slot_;   ///< the last action of each slot
    std::vector<bool> is_awaited_;         ///< by slot: a wait for it was seen
    std::uint64_t last_ns_ = 0;
};

}  // namespace idlewave::extrapolation
