#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/program.hpp"
#include "trace/cold_caches.hpp"
#include "trace/communicators.hpp"
#include "trace/convert.hpp"
#include "trace/rank_trace.hpp"
#include "trace/tags.hpp"

namespace idlewave::trace {

/// Converts the trace of one rank to its program, record by record.
class RankConverter {
  public:
    RankConverter(const RankTrace& trace, Communicators& communicators, Tags& tags, const ConvertOptions& options)
        : trace_(trace),
          communicators_(communicators),
          tags_(tags),
          options_(options),
          cache_use_(options.cold_caches) {}

    /// `offset` is the time in ns by which this rank left MPI_Init later than the first one.
    collectives::RankProgram convert(std::int64_t offset);

  private:
    /// A request that has been started and not completed.
    struct Pending {
        std::uint32_t slot = collectives::no_slot;
        std::uint32_t instruction = 0;
        std::uint64_t communicator = 0;
        bool receive = false;
        bool cancelled = false;
    };

    /// A persistent request, or a message that a matched probe has removed from the queue.
    struct Template {
        std::uint64_t communicator = 0;
        Pair peer_tag{};
        std::uint64_t bytes = 0;
        bool receive = false;
    };

    void record(const TraceRecord& r);
    void persistent(const TraceRecord& r);
    void collective(const TraceRecord& r);
    void complete(const TraceRecord& r);
    void sendrecv(const TraceRecord& r);
    void start(const TraceRecord& r);
    void matched_receive(const TraceRecord& r);
    void cancel(const TraceRecord& r);
    void free_request(const TraceRecord& r);

    void compute(std::int64_t ns);
    void compute_in_cold_caches(std::int64_t ns);
    std::int64_t use_buffer(const collectives::Instruction& message, std::uint64_t bytes);
    std::int64_t use_buffers(const collectives::CollectiveSite& site, std::int64_t sent, std::int64_t received);
    std::uint32_t message(const TraceRecord& r, bool receive, std::uint64_t communicator, Pair peer_tag,
                          std::int64_t bytes);
    void receive(const TraceRecord& r, std::uint64_t communicator, Pair peer_tag, std::int64_t bytes);
    void nonblocking(const TraceRecord& r, bool receive, std::uint64_t communicator, Pair peer_tag, std::int64_t bytes,
                     std::uint64_t request);
    void wait_for(const std::vector<std::uint32_t>& slots);
    void resolve(const TraceRecord& r, const Pending& pending, Pair received);
    collectives::CollectiveSite site_of(const TraceRecord& r, std::size_t sizes_at);
    std::uint32_t peer_of(const TraceRecord& r, std::uint64_t communicator, std::int32_t peer) const;
    std::uint32_t tag_of(std::uint64_t communicator, std::int32_t tag);
    const Communicators::Group& communicator_of(const TraceRecord& r, std::uint64_t communicator) const;
    std::uint32_t new_slot();
    [[noreturn]] void fail(const TraceRecord& r, const std::string& what) const;

    const RankTrace& trace_;
    Communicators& communicators_;
    Tags& tags_;
    const ConvertOptions& options_;
    CacheUse cache_use_;
    collectives::RankProgram program_;
    std::vector<std::uint32_t> unused_slots_;
    std::unordered_map<std::uint64_t, std::deque<Pending>> pending_;  ///< by request, oldest first
    std::unordered_map<std::uint64_t, Template> persistent_;          ///< by request
    std::unordered_map<std::uint64_t, Template> probed_;              ///< by message handle
    std::map<std::uint32_t, std::uint64_t> collectives_begun_;        ///< by communicator index
};

/// The operation of a traced collective, by which its algorithm is chosen.
collectives::Collective operation_of(TracedCollective traced);

}  // namespace idlewave::trace
