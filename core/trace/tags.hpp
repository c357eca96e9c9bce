#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/program.hpp"

namespace idlewave::trace {

/// Schedules have no communicators, only sources and tags. Tags of communicators other than MPI_COMM_WORLD are
/// therefore mapped to unused tags, which are the same for all ranks.
class Tags {
  public:
    /// Messages of different contexts never match.
    struct Context {
        enum class Space : std::uint8_t { messages, partitioned, blocks, exposures, threads };

        Space space = Space::messages;
        std::uint32_t ordinal = 0;  ///< which persistent request, or window, of its communicator

        auto operator<=>(const Context&) const = default;
    };

    /// The schedule's tag for messages with `tag` on the communicator with this index; `world`: on MPI_COMM_WORLD.
    std::uint32_t message(std::uint32_t communicator, std::uint32_t tag, bool world, Context context) {
        if (world && tag < mapped && context == Context()) {
            return tag;
        }
        const auto next = mapped + static_cast<std::uint32_t>(numbers_.size()) % (collective - mapped);
        return numbers_.try_emplace({context, world ? no_communicator : communicator, tag}, next).first->second;
    }

    /// The schedule's tag for those messages with the schedule's tag `tag` that go from one thread to another.
    std::uint32_t between_threads(std::uint32_t tag, std::uint32_t sender, std::uint32_t receiver) {
        return message(no_communicator, tag, false, {Context::Space::threads, sender << 16 | receiver});
    }

    /// What the mapped tags stand for; empty if there are too many for each to stand for one.
    [[nodiscard]] std::vector<collectives::MappedTag> mapped_tags() const {
        std::vector<collectives::MappedTag> tags(numbers_.size());
        if (numbers_.size() > collective - mapped) {
            return {};
        }
        for (const auto& [key, number] : numbers_) {
            const auto& [context, communicator, tag] = key;
            tags[number - mapped] = {
                .communicator = communicator,
                .space = static_cast<std::uint32_t>(context.space),
                .ordinal = context.ordinal,
                .tag = tag,
            };
        }
        return tags;
    }

    /// The tag of the first collective on a communicator; the next ones have those that follow (CollectiveSite).
    /// Consecutive collectives must have different tags, since a small message may overtake a larger one of an earlier
    /// collective. With the bit of a shared buffer (goal/op.hpp) none of them is `any`.
    static std::uint32_t of_collectives(std::uint32_t communicator) {
        constexpr std::uint32_t each = collectives::CollectiveSite::tags;
        return collective + communicator % (collective / each - 1) * each;
    }

    /// The tag of the first execution of a persistent collective: the `ordinal`-th that was made on the communicator,
    /// counted from 1. Each has tags of its own, as ranks may start several in different orders (MPI 4.1, 6.13).
    /// Barriers of a window or a file have them, too (`ordinal_of_window_or_file`).
    std::uint32_t of_persistent(std::uint32_t communicator, std::uint32_t ordinal) {
        const auto next = static_cast<std::uint32_t>(persistent_.size());
        const std::uint32_t known = persistent_.try_emplace({communicator, ordinal}, next).first->second;
        return of_collectives(first_persistent + known % (first_persistent - 1));
    }

    /// The ordinal under which the barriers of the `ordinal`-th window or file of a communicator have their tags: that
    /// of no persistent collective.
    static constexpr std::uint32_t ordinal_of_window_or_file(std::uint32_t ordinal) { return 0x80000000 | ordinal; }

  private:
    /// Of the 16383 ranges of collective tags, the first 8192 are for communicators, the others for persistent
    /// collectives. With more of either, tags are used again.
    static constexpr std::uint32_t first_persistent = 1 << 13;
    static constexpr std::uint32_t no_communicator = 0xffffffff;
    static constexpr std::uint32_t mapped = collectives::MappedTag::first;
    static constexpr std::uint32_t collective = collectives::MappedTag::end;

    std::map<std::tuple<Context, std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> persistent_;
};

}  // namespace idlewave::trace
