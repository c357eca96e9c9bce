#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/input_file.hpp"
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

/// The trace of one rank: a file that was checked. Its records are in memory a window of the file at a time, as a trace
/// may be larger than the memory.
class RankTrace {
  public:
    /// Checks `file`. Throws an InputError with the file, the byte and what was expected.
    static RankTrace read(const std::string& file);

    /// The same from memory. `name` is its name in messages; `bytes` is copied.
    static RankTrace from_bytes(std::span<const std::byte> bytes, const std::string& name);

    [[nodiscard]] const TraceHeader& header() const { return header_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// The number of records.
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// The same without the records of waits for a core.
    [[nodiscard]] std::uint64_t calls() const { return size_ - waits_; }
    /// Whether some record defines a communicator.
    [[nodiscard]] bool defines_communicators() const { return defines_communicators_; }
    /// The number of puts, gets and accumulates.
    [[nodiscard]] std::uint64_t one_sided_calls() const { return one_sided_calls_; }
    [[nodiscard]] std::uint64_t file_calls() const { return file_calls_; }
    /// Whether the tracer recorded when the rank could have run and had no core.
    [[nodiscard]] bool core_waits_known() const { return core_waits_known_; }
    /// For how long that was, ns: in computations, and inside calls.
    [[nodiscard]] std::int64_t core_wait_in_computations() const { return core_wait_in_computations_; }
    [[nodiscard]] std::int64_t core_wait_in_calls() const { return core_wait_in_calls_; }

    /// Calls `use` with each record, in order. A record's words are valid only during the call. Throws an InputError if
    /// the file cannot be read any more, or is another than the one that was checked.
    template <class Use>
    void each(Use use) const {
        RecordReader reader(*this);
        reader.check_header();
        TraceRecord record;
        std::uint64_t records = 0;
        while (reader.next(record)) {
            if (++records > size_) {
                refuse_change();
            }
            use(std::as_const(record));
        }
        if (records != size_) {
            refuse_change();
        }
    }

  private:
    /// Reads a trace from front to back.
    class RecordReader {
      public:
        explicit RecordReader(const RankTrace& trace);

        /// Reads the header.
        TraceHeader header();
        [[nodiscard]] std::vector<std::uint64_t> header_words();
        /// Throws an InputError if the header is not that of the trace.
        void check_header();
        /// Reads the next record. False at the end.
        bool next(TraceRecord& record);

      private:
        [[nodiscard]] std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t count);
        [[noreturn]] void fail(std::uint64_t byte, const std::string& what) const;

        const RankTrace& trace_;
        std::optional<InputFile> file_;
        std::optional<FileWindow> window_;
        std::span<const std::uint64_t> at_hand_;  ///< words of the trace that are in memory
        std::uint64_t at_hand_from_ = 0;          ///< the number of the first of them
        std::uint64_t bytes_;
        std::uint64_t word_;         ///< where the next record begins
        std::int64_t earliest_ = 0;  ///< time at which it may begin, ns: the end of the one before
    };

    [[noreturn]] void refuse_change() const;

    RankTrace(std::string path, std::vector<std::uint64_t> words, std::uint64_t bytes, const std::string& name);

    std::string path_;                  ///< of the file; empty if the trace is in memory
    std::vector<std::uint64_t> words_;  ///< the trace, if it is in memory
    std::uint64_t bytes_ = 0;           ///< the size of the trace that is in memory
    std::string name_;
    TraceHeader header_;
    std::vector<std::uint64_t> header_words_;  ///< the header in the file
    std::uint64_t size_ = 0;
    bool defines_communicators_ = false;
    std::uint64_t one_sided_calls_ = 0;
    std::uint64_t file_calls_ = 0;
    bool core_waits_known_ = false;
    std::uint64_t waits_ = 0;  ///< records of waits for a core
    std::int64_t core_wait_in_computations_ = 0;
    std::int64_t core_wait_in_calls_ = 0;
};

/// A trace: the traces of all ranks, in order.
struct Trace {
    std::vector<RankTrace> ranks;

    /// Checks the files of all ranks in `directory`. Throws InputError if one is missing, invalid, or of another run. A
    /// rank that did not reach MPI_Finalize is no error here.
    static Trace read(const std::string& directory);

    /// The time at which the first rank left MPI_Init, in ns of rank 0's clock.
    [[nodiscard]] std::int64_t begin() const;

    /// The time in ns from the first rank's return from MPI_Init to the last rank's call of MPI_Finalize.
    [[nodiscard]] std::int64_t duration() const;
};

}  // namespace idlewave::trace
