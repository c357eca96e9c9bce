#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace idlewave::trace {

/// The last consistent point of a trace whose ranks ended early, or of which a stretch is used: of the records of all
/// ranks before it, every message that was received was sent, and every collective was begun by all its ranks. And the
/// first such point after given ones: messages that were sent before it and not received have arrived by then.
///
/// First the conversion of all records notes what they do; then `find` and `find_begin` find the points; and then the
/// conversion of the records between them asks which messages to leave out. Records are counted from 1.
class ConsistentCut {
  public:
    explicit ConsistentCut(std::size_t ranks) : ranks_(ranks) {}

    /// The record sends a message. `tag` is the schedule's, here and below.
    void sent(std::uint32_t rank, std::uint64_t record, std::uint32_t destination, std::uint32_t tag);
    /// A receive is posted. Returns its number among those of its source and tag, which match sends in this order.
    std::uint32_t posted(std::uint32_t rank, std::uint32_t source, std::uint32_t tag);
    /// The record completes the receive with that number; `ordinal` is which receive of the rank it is.
    void received(std::uint32_t rank, std::uint64_t record, std::uint32_t source, std::uint32_t tag,
                  std::uint32_t number, std::uint32_t ordinal);
    /// The receive with that number was cancelled: it takes no message.
    void cancelled(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t number);
    /// The record begins a collective. `ordinal`: which persistent collective, window or file of the communicator; 0
    /// for all other collectives.
    void begun(std::uint32_t rank, std::uint64_t record, std::uint32_t communicator, std::uint32_t ordinal);
    /// Nothing from this record on can be used.
    void ends(std::uint32_t rank, std::uint64_t record) { ranks_[rank].records = record - 1; }

    /// `communicators`: the members of each.
    void find(const std::vector<std::vector<std::uint32_t>>& communicators);

    /// The records of the rank up to this one are left out at its beginning.
    void begins_after(std::uint32_t rank, std::uint64_t record) { ranks_[rank].begin = record; }

    /// Leaves out more of the beginnings, until they end at a consistent point.
    void find_begin();

    /// How many records of the rank are left out at its beginning.
    [[nodiscard]] std::uint64_t begin(std::uint32_t rank) const { return ranks_[rank].begin; }

    /// Whether the message of that receive of the rank was sent before the beginning.
    [[nodiscard]] bool arrived(std::uint32_t rank, std::uint32_t ordinal) const {
        return std::ranges::binary_search(ranks_[rank].arrived, ordinal);
    }

    /// How many records of the rank come before the cut.
    [[nodiscard]] std::uint64_t records(std::uint32_t rank) const { return ranks_[rank].records; }

    /// Whether the next send of this kind was received before the cut. It counts as sent.
    bool take_send(std::uint32_t rank, std::uint32_t destination, std::uint32_t tag);

  private:
    enum class Kind : std::uint8_t { send, receive, collective };

    struct Event {
        std::uint64_t record;
        std::uint32_t where;   ///< the channel, or the sequence of collectives
        std::uint32_t number;  ///< there, from 0
        Kind kind;
        std::uint32_t ordinal = 0;  ///< of a receive, among those of the rank
    };

    struct Rank {
        std::vector<Event> events;
        std::uint64_t records = ~std::uint64_t{0};
        std::uint64_t begin = 0;
        std::vector<std::uint32_t> arrived = {};  ///< ordinals of receives, in order
    };

    /// The messages from one rank to another with one tag, which match in order.
    struct Channel {
        std::uint32_t source;
        std::uint32_t destination;
        std::uint32_t sent = 0;
        std::uint32_t taken = 0;
        std::vector<std::uint64_t> received = {};  ///< the record that completes each posted receive; 0: none does
        std::vector<std::uint64_t> sends = {};     ///< their records
    };

    /// The collectives of a communicator, or of one of its persistent collectives, windows or files.
    struct Sequence {
        std::uint32_t communicator;
        std::map<std::uint32_t, std::vector<std::uint64_t>> begun;  ///< the records that begin them, by rank
    };

    [[nodiscard]] std::uint32_t channel(std::uint32_t source, std::uint32_t destination, std::uint32_t tag);
    void end_before(std::uint32_t rank, std::uint64_t record);
    void leave_out(std::uint32_t rank, const Event& event);
    void leave_out_cancelled();
    void begin_after(std::uint32_t rank, std::uint64_t record);
    void leave_out_first(std::uint32_t rank, const Event& event);

    std::vector<Rank> ranks_;
    std::vector<Channel> channels_;
    std::vector<Sequence> sequences_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> channel_numbers_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> sequence_numbers_;
    std::vector<std::uint32_t> shortened_;  ///< ranks with events outside of the records that are used
};

}  // namespace idlewave::trace
