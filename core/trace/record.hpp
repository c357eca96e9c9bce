#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/call.hpp"

namespace idlewave::trace {

/// The header of a rank's file (docs/trace-format.md). Times are in ns of the rank's own clock.
struct TraceHeader {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    std::int64_t init_end = 0;
    std::int64_t finalize_begin = 0;
    std::uint32_t state = 0;
    std::uint32_t thread_level = 0;
    std::int64_t offset_init = 0;
    std::int64_t offset_init_error = 0;
    std::int64_t offset_init_at = 0;
    std::int64_t offset_finalize = 0;
    std::int64_t offset_finalize_error = 0;
    std::int64_t offset_finalize_at = 0;
    std::uint64_t lost = 0;
    std::uint64_t record_cost_ps = 0;
    std::uint64_t voluntary_switches = 0;
    std::uint64_t involuntary_switches = 0;
    std::int64_t cpu_ns = 0;
    std::string host;
    std::string library;

    [[nodiscard]] bool finalized() const { return state == 1; }

    /// The rank's time `t` on the clock of rank 0, by the offsets that were measured in MPI_Init and MPI_Finalize.
    [[nodiscard]] std::int64_t global(std::int64_t t) const;
};

/// The latest time of a trace, ns: sums and differences of such times stay in range.
constexpr std::int64_t latest = std::int64_t{1} << 60;

/// Two 32-bit numbers that share a word: mostly a rank and a tag.
struct Pair {
    std::int32_t first;
    std::int32_t second;
};

/// How a send ends: a buffered one at once, a synchronous one after its receive is posted.
enum class SendMode : std::uint8_t { standard, buffered, synchronous };

/// One recorded call.
struct TraceRecord {
    Call call = Call::end_of_file;
    std::uint16_t info = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint32_t thread = 0;  ///< that made the call; 0 is the one that called MPI_Init
    std::span<const std::uint64_t> words;

    [[nodiscard]] Pair pair(std::size_t i) const {
        return {static_cast<std::int32_t>(words[i] & 0xffffffff), static_cast<std::int32_t>(words[i] >> 32)};
    }
    [[nodiscard]] std::int64_t number(std::size_t i) const { return static_cast<std::int64_t>(words[i]); }

    /// Of a call that sends a message, or makes a persistent send.
    [[nodiscard]] SendMode send_mode() const {
        const bool persistent = call == Call::send_init;
        if (call == Call::bsend || call == Call::ibsend || (persistent && (info & 1) != 0)) {
            return SendMode::buffered;
        }
        const bool synchronous = call == Call::ssend || call == Call::issend || (persistent && (info & 2) != 0);
        return synchronous ? SendMode::synchronous : SendMode::standard;
    }

    /// `count` 32-bit numbers, two to a word from `word` on. The record must have them.
    [[nodiscard]] std::vector<std::int32_t> listed(std::size_t word, std::size_t count) const {
        std::vector<std::int32_t> numbers;
        for (std::size_t i = 0; i < count; ++i) {
            const Pair two = pair(word + i / 2);
            numbers.push_back(i % 2 == 0 ? two.first : two.second);
        }
        return numbers;
    }
};

}  // namespace idlewave::trace
