#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/record.hpp"
#include "trace/record_reader.hpp"

namespace idlewave::trace {

/// When a thread of a rank made calls, ns of the rank's clock: the begin of the first one and the end of the last.
struct ThreadSpan {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool called = false;  ///< it made some
};

/// The cores of a rank's host, as the tracer saw them. Of an earlier tracer, and of an imported trace, nothing is
/// known.
struct HostCores {
    std::uint32_t number = 0;           ///< 0: not known
    std::vector<std::uint32_t> usable;  ///< those that the rank may use, ascending; none: not known
    std::int64_t busy_begin = -1;  ///< busy time of all together since the host's start, at init, ns; −1: not known
    std::int64_t busy_end = -1;    ///< the same at finalize
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
    /// The threads that made calls, by number; there is one at least.
    [[nodiscard]] const std::vector<ThreadSpan>& threads() const { return threads_; }
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
    [[nodiscard]] const HostCores& host_cores() const { return host_cores_; }
    /// The same for all ranks of a run, and another for other runs; 0: not known.
    [[nodiscard]] std::uint64_t run_id() const { return run_id_; }

    /// Calls `use` with each record, in order. A record's words are valid only during the call. Throws an InputError if
    /// the file cannot be read any more, or is another than the one that was checked.
    template <class Use>
    void each(Use use) const {
        RecordReader reader = this->reader();
        if (reader.header_bytes() != header_bytes_) {
            refuse_change();
        }
        reader.header();
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
    [[nodiscard]] RecordReader reader() const { return RecordReader(RankSource{path_, words_, bytes_, name_}); }
    void note_thread(const TraceRecord& record);
    void note_host_cores(const TraceRecord& record);
    [[noreturn]] void refuse_change() const;

    RankTrace(std::string path, std::vector<std::uint64_t> words, std::uint64_t bytes, const std::string& name);

    std::string path_;                  ///< of the file; empty if the trace is in memory
    std::vector<std::uint64_t> words_;  ///< the trace, if it is in memory
    std::uint64_t bytes_ = 0;           ///< the size of the trace that is in memory
    std::string name_;
    TraceHeader header_;
    std::vector<std::byte> header_bytes_;  ///< the header in the file
    std::uint64_t size_ = 0;
    std::vector<ThreadSpan> threads_{{}};
    bool defines_communicators_ = false;
    std::uint64_t one_sided_calls_ = 0;
    std::uint64_t file_calls_ = 0;
    bool core_waits_known_ = false;
    std::uint64_t waits_ = 0;  ///< records of waits for a core
    std::int64_t core_wait_in_computations_ = 0;
    std::int64_t core_wait_in_calls_ = 0;
    HostCores host_cores_;
    std::uint64_t run_id_ = 0;
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
