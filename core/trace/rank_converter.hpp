#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
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

    /// How many receives named no source.
    [[nodiscard]] std::uint64_t wildcards() const { return wildcards_; }

  private:
    /// A message as a call describes it.
    struct Message {
        bool receive = false;
        std::uint64_t communicator = 0;
        Pair peer_tag{};
        std::int64_t bytes = 0;
        Tags::Context context = {};
        std::int64_t partitions = 0;  ///< of a partitioned message; else 0
    };

    /// A request that has been started and not completed.
    struct Pending {
        std::uint32_t slot = collectives::no_slot;
        std::uint32_t instruction = 0;
        std::uint64_t communicator = 0;
        bool receive = false;
        bool cancelled = false;
        std::vector<std::uint32_t> more_slots = {};  ///< of the other messages of the request
    };

    /// The requests with one handle, oldest first: some MPIs give all sends that are complete at once the same one.
    /// Most handles have one, for which a deque would allocate half a kilobyte.
    struct PendingQueue {
        std::vector<Pending> requests;
        std::size_t first = 0;  ///< those before it were taken

        [[nodiscard]] bool empty() const { return first == requests.size(); }
        Pending take() { return requests[first++]; }
    };

    /// The partitions of a message that was started.
    struct Partitions {
        std::int64_t left = 0;  ///< which are not ready, or were not seen to have arrived
        std::set<std::int64_t> arrived = {};
    };

    /// The sizes of a collective's parts.
    struct Counts {
        std::vector<std::uint64_t> sent;
        std::vector<std::uint64_t> received;
    };

    /// The call that has made a persistent collective.
    struct CollectiveInit {
        Call call;
        std::uint16_t info;
        std::uint32_t number;  ///< among the persistent collectives of its communicator, from 1 on
        std::vector<std::uint64_t> words;
    };

    void call(const TraceRecord& r);
    void record(const TraceRecord& r);
    void persistent(const TraceRecord& r);
    void collective(const TraceRecord& r, std::uint32_t number = 0);
    void make_persistent(const TraceRecord& r);
    void neighborhood(const TraceRecord& r, const Communicators::Group& communicator, std::uint32_t number);
    void exchange_between_groups(const TraceRecord& r, std::size_t size, std::uint32_t number);
    void exchange_blocks(const TraceRecord& r, const Neighborhood& neighbors, std::uint32_t number);
    void complete(const TraceRecord& r);
    void sendrecv(const TraceRecord& r);
    void isendrecv(const TraceRecord& r);
    void start(const TraceRecord& r);
    void partitions_ready(const TraceRecord& r);
    void partition_arrived(const TraceRecord& r);
    void matched_receive(const TraceRecord& r);
    void cancel(const TraceRecord& r);
    void free_request(const TraceRecord& r);

    void compute(std::int64_t ns);
    void compute_in_cold_caches(std::int64_t ns);
    std::int64_t use_buffer(const collectives::Instruction& message, std::uint64_t bytes);
    std::int64_t use_buffers(const collectives::CollectiveSite& site, std::int64_t sent, std::int64_t received);
    std::uint32_t message(const TraceRecord& r, const Message& m, bool blocking = false);
    void receive(const TraceRecord& r, const Message& m);
    void nonblocking(const TraceRecord& r, const Message& m, std::uint64_t request);
    std::uint32_t number_of(collectives::CollectiveSite site);
    std::uint32_t begin_of(std::span<const std::uint32_t> slots);
    bool make_blocking(std::uint32_t slot);
    void wait_for(std::span<const std::uint32_t> slots);
    void resolve(const TraceRecord& r, const Pending& pending, Pair received);
    [[nodiscard]] Pair source_and_tag(Pair called, Pair received);
    void count_wildcard(Pair called);
    collectives::CollectiveSite site_of(const TraceRecord& r, std::size_t sizes_at, std::uint32_t number);
    collectives::CollectiveSite site_between_groups(const TraceRecord& r, std::size_t sizes_at, std::uint32_t number);
    std::int32_t root_of(const TraceRecord& r, std::size_t size) const;
    std::uint64_t size_of(const TraceRecord& r, std::int64_t bytes) const;
    Counts counts_of(const TraceRecord& r, std::size_t sizes_at, std::size_t size) const;
    void choose_algorithm(const TraceRecord& r, TracedCollective traced, std::uint32_t number,
                          collectives::CollectiveSite& site);
    std::uint32_t peer_of(const TraceRecord& r, std::uint64_t communicator, std::int32_t peer);
    std::uint32_t tag_of(std::uint64_t communicator, std::int32_t tag, Tags::Context context);
    std::uint32_t member_of(const TraceRecord& r, const Communicators::Group& communicator) const;
    const Communicators::Group& communicator_of(const TraceRecord& r, std::uint64_t communicator);
    std::uint32_t new_slot();
    [[noreturn]] void fail(const TraceRecord& r, const std::string& what) const;

    const RankTrace& trace_;
    Communicators& communicators_;
    Tags& tags_;
    const ConvertOptions& options_;
    CacheUse cache_use_;
    /// The communicator that was looked up last: most calls are on the one of the call before.
    std::uint64_t last_id_ = 0;
    const Communicators::Group* last_group_ = nullptr;
    collectives::RankProgram program_;
    std::uint64_t wildcards_ = 0;
    std::uint64_t call_ = 0;     ///< number of the record that is converted; the first is 1
    std::int64_t left_mpi_ = 0;  ///< the end of the last call, ns
    std::int64_t excluded_ = 0;  ///< time in unsuccessful tests and in the tracer since then: it is no computation
    std::vector<std::uint32_t> unused_slots_;
    std::vector<std::uint32_t> completed_;                      ///< the slots of the requests that a call has completed
    std::vector<std::uint32_t> awaited_;                        ///< those for which a wait is added
    std::unordered_map<std::uint64_t, PendingQueue> pending_;   ///< by request, oldest first
    std::unordered_map<std::uint64_t, Message> persistent_;     ///< by request
    std::unordered_map<std::uint64_t, Partitions> partitions_;  ///< by request
    std::unordered_map<std::uint64_t, CollectiveInit> persistent_collectives_;  ///< by request
    std::unordered_map<std::uint64_t, Message> probed_;                         ///< by message handle
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
        counters_;  ///< of collectives, by communicator index and the number of a persistent one
    std::unordered_map<std::uint64_t, std::uint32_t> persistent_made_;  ///< collectives, by communicator
    std::map<std::tuple<std::uint64_t, std::uint64_t, bool>, std::uint32_t>
        partitioned_made_;  ///< by communicator, peer and tag, and whether it is a receive
    // Collectives and lists of slots that occur again are stored once: their numbers by hash.
    std::unordered_multimap<std::size_t, std::uint32_t> known_collectives_;
    std::unordered_multimap<std::size_t, std::uint32_t> known_slot_lists_;
};

/// The operation of a traced collective, by which its algorithm is chosen.
collectives::Collective operation_of(TracedCollective traced);

}  // namespace idlewave::trace
