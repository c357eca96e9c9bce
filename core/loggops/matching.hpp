#pragma once

#include <cstdint>
#include <optional>

#include "base/inline_vector.hpp"
#include "base/time.hpp"
#include "goal/op.hpp"
#include "loggops/message.hpp"

namespace idlewave {

/// A receive, from its posting on.
struct Receive {
    Op op = {};
    Place place = 0;
    std::uint32_t cookie = 0;
    Time ready = 0;  ///< when its requirements were met
    Time posted = 0;
};

/// A message from the arrival of its first byte until its receive has ended.
struct Arrived {
    static constexpr Time not_yet = -1;

    std::uint64_t size = 0;    ///< on the wire
    std::uint64_t number = 0;  ///< its sender's count of transmissions
    std::uint32_t source = 0;
    std::uint32_t tag = 0;
    std::uint32_t sending = 0;    ///< of a rendezvous: the sender's handle
    std::uint32_t receiving = 0;  ///< of a clear to send: the receiver's handle
    MessageKind kind = MessageKind::data;
    bool matched = false;
    Time matched_at = not_yet;  ///< when receive and message had met: at the arrival or at the posting
    Time processed_at = not_yet;
    Receive receive = {};  ///< once matched
};

/// MPI's matching: an arrival takes the oldest posted receive whose source and tag agree, a receive the oldest
/// unexpected message. Sizes are not compared.
class Matching {
  public:
    /// The oldest posted receive that an arrival from `source` with `tag` matches, which is then no longer posted.
    std::optional<Receive> take_posted(std::uint32_t source, std::uint32_t tag) {
        for (std::uint32_t i = 0; i < posted_.size(); ++i) {
            if (agree(posted_[i].op, source, tag)) {
                const Receive receive = posted_[i];
                posted_.erase(i);
                return receive;
            }
        }
        return std::nullopt;
    }

    void post(const Receive& receive) { posted_.push_back(receive); }

    /// The oldest unexpected message that `op` matches, which is then no longer unexpected.
    template <class MessageOf>
    std::optional<std::uint32_t> take_unexpected(const Op& op, MessageOf message_of) {
        for (std::uint32_t i = 0; i < unexpected_.size(); ++i) {
            const Arrived& message = message_of(unexpected_[i]);
            if (agree(op, message.source, message.tag)) {
                const std::uint32_t handle = unexpected_[i];
                unexpected_.erase(i);
                return handle;
            }
        }
        return std::nullopt;
    }

    void add_unexpected(std::uint32_t handle) { unexpected_.push_back(handle); }

    [[nodiscard]] const auto& posted() const { return posted_; }
    [[nodiscard]] const auto& unexpected() const { return unexpected_; }

  private:
    static bool agree(const Op& receive, std::uint32_t source, std::uint32_t tag) {
        return (receive.peer == any || receive.peer == source) &&
               (receive.tag == any || tag == any || receive.tag == tag);
    }

    InlineVector<Receive, 2> posted_;            ///< receives without a message, oldest first
    InlineVector<std::uint32_t, 4> unexpected_;  ///< messages without a receive, oldest first
};

}  // namespace idlewave
