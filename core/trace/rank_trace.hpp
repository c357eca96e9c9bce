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

/// Two 32-bit numbers that share a word: mostly a rank and a tag.
struct Pair {
    std::int32_t first;
    std::int32_t second;
};

/// One recorded call.
struct TraceRecord {
    Call call = Call::end_of_file;
    std::uint16_t info = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::span<const std::uint64_t> words;

    [[nodiscard]] Pair pair(std::size_t i) const {
        return {static_cast<std::int32_t>(words[i] & 0xffffffff), static_cast<std::int32_t>(words[i] >> 32)};
    }
    [[nodiscard]] std::int64_t number(std::size_t i) const { return static_cast<std::int64_t>(words[i]); }
};

/// The trace of one rank, read from its file and checked.
class RankTrace {
  public:
    RankTrace(RankTrace&&) = default;
    RankTrace& operator=(RankTrace&&) = default;
    RankTrace(const RankTrace&) = delete;  // the records point into this object's memory
    RankTrace& operator=(const RankTrace&) = delete;
    ~RankTrace() = default;

    /// Reads `file`. Throws an InputError with the file, the byte and what was expected.
    static RankTrace read(const std::string& file);

    /// The same from memory. `name` is its name in messages; `bytes` is copied.
    static RankTrace from_bytes(std::span<const std::byte> bytes, const std::string& name);

    [[nodiscard]] const TraceHeader& header() const { return header_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::vector<TraceRecord>& records() const { return records_; }

  private:
    RankTrace(std::vector<std::uint64_t> words, std::size_t bytes, const std::string& name);

    void read_header();
    void read_records();
    std::size_t read_record(std::size_t at, std::size_t end);
    [[noreturn]] void fail(std::size_t byte, const std::string& what) const;

    std::vector<std::uint64_t> words_;  ///< the file
    std::size_t bytes_ = 0;
    std::string name_;
    TraceHeader header_;
    std::vector<TraceRecord> records_;
};

/// A trace: the traces of all ranks, in order.
struct Trace {
    Trace() = default;
    Trace(Trace&&) = default;
    Trace& operator=(Trace&&) = default;
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;
    ~Trace() = default;

    std::vector<RankTrace> ranks;

    /// Reads the files of all ranks in `directory`. Throws InputError if one is missing, invalid, or of another run. A
    /// rank that did not reach MPI_Finalize is no error here.
    static Trace read(const std::string& directory);

    /// The time at which the first rank left MPI_Init, in ns of rank 0's clock.
    [[nodiscard]] std::int64_t begin() const;

    /// The time in ns from the first rank's return from MPI_Init to the last rank's call of MPI_Finalize.
    [[nodiscard]] std::int64_t duration() const;
};

}  // namespace idlewave::trace
