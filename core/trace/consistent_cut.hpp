#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace idlewave::trace {

/// The last consistent point of a trace whose ranks ended early. Of the records of all ranks before it, every message
/// that was received was sent, and every collective was begun by all its ranks.
///
/// First the conversion of all records notes what they do; then `find` finds the point; and then the conversion of the
/// records before it asks which sends to leave out, because nobody received them.
class ConsistentCut {
  public:
    explicit ConsistentCut(std::size_t ranks) : ranks_(ranks) {}

    // What record number `record` of a rank, counted from 1, does. `tag` is the schedule's.
    void sent(std::uint32_t rank, std::uint64_t record, std::uint32_t destination, std::uint32_t tag);
    void received(std::uint32_t rank, std::uint64_t record, std::uint32_t source, std::uint32_t tag);
    /// `making`: which persistent collective, window or file of the communicator; 0 for all other collectives.
    void begun(std::uint32_t rank, std::uint64_t record, std::uint32_t communicator, std::uint32_t making);

    /// `communicators`: the members of each.
    void find(const std::vector<std::vector<std::uint32_t>>& communicators);

    /// How many records of the rank come before the cut.
    [[nodiscard]] std::uint64_t records(std::uint32_t rank) const { return ranks_[rank].records; }

    /// Whether the next send of this kind was received before the cut. It counts as sent.
    bool take_send(std::uint32_t rank, std::uint32_t destination, std::uint32_t tag);

  private:
    enum class Kind : std::uint8_t { send, receive, collective };

    struct Event {
        std::uint64_t record;
        std::uint32_t number;  ///< of the channel or of the sequence of collectives
        Kind kind;
    };

    struct Rank {
        std::vector<Event> events;
        std::uint64_t records = 0;
    };

    /// The messages from one rank to another with one tag, which match in order.
    struct Channel {
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        std::uint64_t taken = 0;
    };

    /// The collectives of a communicator, by its ranks, or of one of its persistent collectives, windows or files.
    struct Sequence {
        std::uint32_t communicator;
        std::map<std::uint32_t, std::uint64_t> begun;
    };

    [[nodiscard]] std::uint32_t channel(std::uint32_t source, std::uint32_t destination, std::uint32_t tag);
    void count(std::uint32_t rank, const Event& event, std::int64_t by);
    [[nodiscard]] std::vector<std::uint64_t> complete_collectives(
        const std::vector<std::vector<std::uint32_t>>& communicators) const;
    bool shorten(std::uint32_t rank, const std::vector<std::uint64_t>& complete);

    std::vector<Rank> ranks_;
    std::vector<Channel> channels_;
    std::vector<Sequence> sequences_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> channel_numbers_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> sequence_numbers_;
};

}  // namespace idlewave::trace
