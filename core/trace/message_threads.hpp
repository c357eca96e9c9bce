#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/record.hpp"

namespace idlewave::trace {

/// Finds between which threads each message of a trace went whose ranks have several threads. Threads of a rank may use
/// one source, destination and tag at a time; simulated, they might send and receive in another order than they did,
/// take each other's messages, and wait for ever. So the messages between each two threads get a tag of their own.
///
/// First the conversion of all records notes the messages; then `find` finds which send each receive took; and then the
/// conversion asks for each message. Sends and receives are numbered in the order of a rank's records, from 0.
class MessageThreads {
  public:
    explicit MessageThreads(std::size_t ranks) : ranks_(ranks) {}

    /// The rank begins its next send. `tag` is the schedule's, here and below.
    void sent(std::uint32_t rank, std::uint32_t thread, std::int64_t begin, std::uint32_t destination,
              std::uint32_t tag);
    /// The rank posts its next receive, in a call from `begin` to `end`.
    void posted(std::uint32_t rank, std::uint32_t thread, std::int64_t begin, std::int64_t end, std::uint32_t source,
                std::uint32_t tag);
    /// The receive named no source or no tag, and its message had these.
    void resolved(std::uint32_t rank, std::uint32_t receive, std::uint32_t source, std::uint32_t tag);
    /// The receive has its message, at the latest, when a call ends.
    void received(std::uint32_t rank, std::uint32_t receive, std::int64_t when);
    /// The receive was cancelled, and takes no message.
    void cancelled(std::uint32_t rank, std::uint32_t receive);

    void find();

    /// The receiving thread of a send's message, if the source, destination and tag have several threads.
    [[nodiscard]] std::optional<std::uint32_t> receiver(std::uint32_t rank, std::uint32_t send) const {
        return other(ranks_[rank].sends[send]);
    }
    /// The tag of the message that a receive takes, as far as it is known.
    [[nodiscard]] std::uint32_t tag(std::uint32_t rank, std::uint32_t receive) const {
        return ranks_[rank].receives[receive].tag;
    }
    /// The sending thread of the message that a receive takes, in the same case.
    [[nodiscard]] std::optional<std::uint32_t> sender(std::uint32_t rank, std::uint32_t receive) const {
        return other(ranks_[rank].receives[receive]);
    }

  private:
    static constexpr std::uint32_t none = 0xffffffff;

    struct Message {
        std::uint32_t peer = 0;
        std::uint32_t tag = 0;
        std::uint32_t thread = 0;
        std::uint32_t other_thread = none;  ///< of the other end
        std::int64_t begin = 0;             ///< of the call
    };
    struct Receive : Message {
        std::int64_t end = 0;            ///< of the call
        std::int64_t received = latest;  ///< when it has its message
        bool cancelled = false;
    };
    struct Rank {
        std::vector<Message> sends;
        std::vector<Receive> receives;
    };
    /// The messages of one source, destination and tag.
    struct Channel {
        std::uint32_t source;
        std::uint32_t destination;
        std::uint32_t tag;

        bool operator==(const Channel&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Channel& channel) const {
            constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // of Fibonacci hashing
            const std::uint64_t ranks = std::uint64_t{channel.source} << 32 | channel.destination;
            return (ranks * odd ^ channel.tag) * odd;
        }
    };
    /// The messages of a channel whose ends have several threads, in the order of the records.
    struct Ends {
        std::vector<Message*> sends = {};
        std::vector<Receive*> receives = {};
    };

    [[nodiscard]] static std::optional<std::uint32_t> other(const Message& message) {
        return message.other_thread == none ? std::nullopt : std::optional(message.other_thread);
    }
    template <class Use>
    void each(Use use);
    static void match(Ends& ends);

    std::vector<Rank> ranks_;
};

}  // namespace idlewave::trace
