#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/rank_trace.hpp"

namespace idlewave::testing {

/// Two 32-bit numbers in one word, as the trace format has them.
constexpr std::uint64_t pair(std::int32_t first, std::int32_t second) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(second)) << 32;
}

constexpr std::uint64_t world = 1;

/// The file of one rank, made by hand (docs/trace-format.md). Clean and finalized unless it is changed.
class TraceBytes {
  public:
    TraceBytes(std::uint32_t rank, std::uint32_t ranks) : bytes_(256), rank_(rank) {
        put_text(0, "IDLEWTR1");
        put<std::uint32_t>(8, 1);
        put<std::uint32_t>(12, 256);
        put<std::uint32_t>(16, rank);
        put<std::uint32_t>(20, ranks);
        put<std::uint32_t>(48, 1);
        put_text(144, "node1");
        put_text(208, "Some MPI 1.0");
    }

    template <class T>
    TraceBytes& put(std::size_t at, T value) {
        std::memcpy(bytes_.data() + at, &value, sizeof value);
        return *this;
    }

    void put_text(std::size_t at, std::string_view text) { std::memcpy(bytes_.data() + at, text.data(), text.size()); }

    /// When MPI_Init returned.
    TraceBytes& began(std::int64_t at) { return put(32, at); }

    /// A record; of a collective `operation` is 64, 128 or 192 plus its number.
    TraceBytes& call(std::uint16_t operation, std::int64_t begin, std::int64_t end,
                     const std::vector<std::uint64_t>& words, std::uint16_t info = 0) {
        append(std::uint64_t{words.size()} | std::uint64_t{operation} << 32 | std::uint64_t{info} << 48);
        append(static_cast<std::uint64_t>(begin));
        append(static_cast<std::uint64_t>(end));
        for (const std::uint64_t word : words) {
            append(word);
        }
        return *this;
    }

    TraceBytes& call(trace::Call operation, std::int64_t begin, std::int64_t end,
                     const std::vector<std::uint64_t>& words, std::uint16_t info = 0) {
        return call(static_cast<std::uint16_t>(operation), begin, end, words, info);
    }

    /// The next records are another thread's; `at` is the end of the one before.
    TraceBytes& thread(std::uint64_t number, std::int64_t at) { return call(trace::Call::thread, at, at, {number}); }

    TraceBytes& append(std::uint64_t word) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + 8);
        return put(at, word);
    }

    [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
    [[nodiscard]] trace::RankTrace read() const {
        return trace::RankTrace::from_bytes(bytes_, "rank" + std::to_string(rank_));
    }

  private:
    std::vector<std::byte> bytes_;
    std::uint32_t rank_;
};

inline trace::Trace trace_of(std::span<const TraceBytes> files) {
    trace::Trace trace;
    for (const TraceBytes& file : files) {
        trace.ranks.push_back(file.read());
    }
    return trace;
}

}  // namespace idlewave::testing
