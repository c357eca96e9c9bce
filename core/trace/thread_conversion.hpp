#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectives/program.hpp"
#include "trace/cold_caches.hpp"

namespace idlewave::trace {

/// How far the conversion of one thread of a rank has come.
struct ThreadConversion {
    static constexpr std::uint32_t no_receive = 0xffffffff;

    ThreadConversion(std::uint32_t number_, const ColdCaches& costs) : number(number_), cache_use(costs) {}

    std::uint32_t number;
    CacheUse cache_use;
    collectives::RankProgram program = {};
    std::int64_t waited_inside = 0;  ///< for a core, inside the call that is converted, ns
    std::int64_t call_begin = 0;     ///< of the call that is converted, ns
    std::int64_t call_end = 0;
    std::vector<std::uint32_t> unused_slots = {};
    std::optional<std::uint32_t> slot_of_buffered = {};  ///< of all buffered sends, since nothing waits for them
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> counters =
        {};  ///< of collectives, by communicator index and the ordinal of a persistent one
    // Collectives and lists of slots that occur again are stored once: their numbers by hash.
    std::unordered_multimap<std::size_t, std::uint32_t> known_collectives = {};
    std::unordered_multimap<std::size_t, std::uint32_t> known_slot_lists = {};
    // Of a rank with several threads:
    std::uint32_t before = 0;                  ///< the thread that had its CPU before; 0: none
    std::vector<std::uint32_t> users = {};     ///< by slot: the word of the instruction that has it
    std::vector<std::uint32_t> receives = {};  ///< by slot: which receive of the rank is in it
    std::vector<bool> used_once = {};          ///< by slot: another thread ends it, so it is not used again
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> collectives_begun = {};  ///< as `counters`
};

}  // namespace idlewave::trace
