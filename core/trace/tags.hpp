#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace idlewave {

/// A schedule knows no communicators, only sources and tags: tags of other communicators than the world's are mapped
/// to numbers of their own, the same for all ranks.
class Tags {
  public:
    /// The schedule's tag for messages with `tag` on the communicator with this index; `world` if it is the world's.
    std::uint32_t message(std::uint32_t communicator, std::uint32_t tag, bool world) {
        if (world && tag < mapped) {
            return tag;
        }
        const auto next = mapped + static_cast<std::uint32_t>(numbers_.size()) % (collective - mapped);
        return numbers_.try_emplace({world ? no_communicator : communicator, tag}, next).first->second;
    }

    /// The tag of the `count`-th collective on a communicator. Collectives that follow each other must differ, as a
    /// later message may overtake an earlier, larger one.
    static std::uint32_t of_collective(std::uint32_t communicator, std::uint64_t count) {
        const std::uint64_t number = (std::uint64_t{communicator} << 16) + count % (1 << 16);
        return collective + static_cast<std::uint32_t>(number % collective);
    }

  private:
    static constexpr std::uint32_t no_communicator = 0xffffffff;
    static constexpr std::uint32_t mapped = 0x30000000;
    static constexpr std::uint32_t collective = 0x40000000;

    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
};

}  // namespace idlewave
