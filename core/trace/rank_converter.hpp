#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectives/program.hpp"
#include "trace/between_calls.hpp"
#include "trace/cold_caches.hpp"
#include "trace/collective_file_calls.hpp"
#include "trace/communicators.hpp"
#include "trace/computation_times.hpp"
#include "trace/consistent_cut.hpp"
#include "trace/convert.hpp"
#include "trace/message_threads.hpp"
#include "trace/rank_trace.hpp"
#include "trace/tags.hpp"
#include "trace/thread_conversion.hpp"

namespace idlewave::trace {

/// What the conversions of a trace's ranks share.
struct SharedConversion {
    explicit SharedConversion(const Trace& trace) : communicators(trace), collective_file_calls(trace) {}

    Communicators communicators;
    CollectiveFileCalls collective_file_calls;
    Tags tags = {};
    std::optional<ConsistentCut> cut = {};               ///< of a trace that ended early
    bool cut_is_found = false;                           ///< else the conversions note what it is found from
    std::optional<MessageThreads> message_threads = {};  ///< of a trace with several threads
    bool message_threads_are_found = false;              ///< the same of these
};

/// The conversion that notes what a cut is found from has come to a call that cannot be before the cut.
struct CannotBeBeforeCut : std::exception {};

/// When a rank begins: where it left MPI_Init, or where its beginning that is left out has ended.
struct RankBegin {
    std::int64_t offset = 0;   ///< how much later than the first rank, ns
    std::int64_t skipped = 0;  ///< how long it has computed already, ns
};

/// Converts the trace of one rank to its program, or to those of its threads, record by record.
class RankConverter {
  public:
    /// `times` says how long computations take; null: as they were recorded.
    RankConverter(const RankTrace& trace, SharedConversion& shared, const ConvertOptions& options,
                  ComputationTimes* times = nullptr)
        : trace_(trace),
          communicators_(shared.communicators),
          collective_file_calls_(shared.collective_file_calls),
          tags_(shared.tags),
          cut_in_search_(shared.cut && !shared.cut_is_found ? &*shared.cut : nullptr),
          found_cut_(shared.cut && shared.cut_is_found ? &*shared.cut : nullptr),
          threads_in_search_(shared.message_threads && !shared.message_threads_are_found ? &*shared.message_threads
                                                                                         : nullptr),
          found_threads_(shared.message_threads && shared.message_threads_are_found ? &*shared.message_threads
                                                                                    : nullptr),
          options_(options),
          between_(trace, options.wall_gaps),
          times_(times) {
        begin_conversions();
    }

    /// The programs of the rank's threads.
    std::vector<collectives::RankProgram> convert(const RankBegin& begin);

    /// How many calls it has converted; during `convert` with the one at hand.
    [[nodiscard]] std::uint64_t calls() const { return call_; }

    /// How many receives named no source.
    [[nodiscard]] std::uint64_t wildcard_receives() const { return wildcard_receives_; }
    /// Of how many of these the trace does not have the message that they took.
    [[nodiscard]] std::uint64_t unknown_receives() const { return unknown_receives_; }
    /// The one-sided operations that are computation, and whether others are operations of the schedule.
    [[nodiscard]] const collectives::TimedCalls& one_sided() const { return one_sided_; }
    [[nodiscard]] bool has_one_sided() const { return has_one_sided_; }
    [[nodiscard]] const collectives::TimedCalls& files() const { return files_; }

  private:
    /// A message as a call describes it.
    struct Message {
        bool receive = false;
        std::uint64_t communicator = 0;
        Pair peer_tag{};
        std::int64_t bytes = 0;
        Tags::Context context = {};
        SendMode mode = SendMode::standard;
        std::int64_t partitions = 0;  ///< of a partitioned message; else 0
        /// Of a message that MPI_Mprobe found: when this call began and ended.
        std::optional<std::pair<std::int64_t, std::int64_t>> probed = {};
    };

    /// A request that has been started and not completed.
    struct Pending {
        std::uint32_t thread = 0;  ///< that started it
        std::uint32_t slot = collectives::no_slot;
        std::uint32_t instruction = 0;
        std::uint64_t communicator = 0;
        bool receive = false;
        bool cancelled = false;
        std::vector<std::uint32_t> more_slots = {};  ///< of the other messages of the request
        /// To which the time of a wait for it is added; null for messages and collectives.
        collectives::TimedCalls* timed = nullptr;
        std::optional<std::pair<std::uint64_t, std::int32_t>> access = {};  ///< of a put or get its window and target
    };

    /// The requests with one handle, oldest first: some MPIs give all sends that are complete at once the same one.
    /// Most handles have one, for which a deque would allocate half a kilobyte.
    struct PendingQueue {
        std::vector<Pending> requests;
        std::size_t first = 0;  ///< those before it were taken

        [[nodiscard]] bool empty() const { return first == requests.size(); }

        /// The oldest one of a thread, or of any if it has none: a handle may be another thread's next request before
        /// the record of the wait that freed it is written.
        Pending take(std::uint32_t thread) {
            const auto oldest = requests.begin() + static_cast<std::ptrdiff_t>(first);
            const auto own = std::find_if(oldest, requests.end(),
                                          [thread](const Pending& pending) { return pending.thread == thread; });
            if (own != requests.end()) {
                std::rotate(oldest, own, own + 1);
            }
            return requests[first++];
        }
    };

    /// A receive of a trace that is cut, for which no call has waited yet.
    struct PostedReceive {
        std::uint32_t word = 0;     ///< of the program
        std::uint32_t ordinal = 0;  ///< among the receives of the rank
        /// Among the receives of its source and tag; none if it named no source, so that only its message shows it.
        std::optional<std::uint32_t> number = {};
    };

    /// A receive that is open where the beginning that is left out ends.
    struct OpenReceive {
        std::uint32_t slot;
        PostedReceive posted;
        collectives::Instruction instruction;
    };

    /// A message that MPI_Mprobe found, and the thread that called it.
    struct ProbedMessage {
        std::uint32_t thread;
        Message message;
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

    /// A put or get that has started.
    struct Access {
        std::uint32_t slot = 0;
        bool gets = false;
        bool has_request = false;  ///< so the wait for that comes, too
    };
    /// Which of a window's accesses a call waits for.
    enum class Waited : std::uint8_t { all, gets };

    /// A window.
    struct Window {
        std::uint64_t communicator = 0;
        std::uint32_t ordinal = 0;           ///< among the windows and files of its communicator, from 1 on
        std::vector<std::int32_t> origins;   ///< ranks to which it is exposed
        std::vector<std::int32_t> targets;   ///< ranks that this one accesses
        std::vector<std::uint32_t> exposed;  ///< slots of the receives that say so
        std::uint32_t thread = 0;            ///< whose slots these are
        std::map<std::int32_t, std::vector<Access>> accesses = {};  ///< by target, those that were not waited for
        std::set<std::int32_t> locked = {};                         ///< the targets whose lock this rank holds
    };

    /// An open file.
    struct File {
        std::uint64_t communicator = 0;
        std::uint32_t ordinal = 0;           ///< among the windows and files of its communicator, from 1 on
        std::uint64_t collective_calls = 0;  ///< how many calls all its ranks have made together
    };

    /// The call that has made a persistent collective.
    struct CollectiveInit {
        Call call;
        std::uint16_t info;
        std::uint32_t ordinal;  ///< among the persistent collectives of its communicator, from 1 on
        std::vector<std::uint64_t> words;
    };

    void begin_conversions();
    void choose_cpus();
    void begin_thread(std::uint32_t number);
    void join_threads();
    std::uint32_t share(std::uint32_t thread, std::uint32_t with);
    std::uint32_t own_slot(std::uint32_t thread, std::uint32_t slot);
    void own_slots(std::uint32_t thread, std::span<std::uint32_t> slots);
    void use_thread(collectives::Instruction& message, const Message& m);
    void note_thread(const collectives::Instruction& message, const Message& m);
    void note_complete(std::span<const std::uint32_t> slots);
    void note_user(std::uint32_t slot);
    std::uint32_t count_collective(std::uint32_t communicator, std::uint32_t ordinal);
    void wait_for_shared(std::span<const std::uint32_t> slots);
    void call(const TraceRecord& r);
    void record(const TraceRecord& r);
    void further_call(const TraceRecord& r);
    void persistent(const TraceRecord& r);
    void collective(const TraceRecord& r, std::uint32_t ordinal = 0);
    void make_persistent(const TraceRecord& r);
    void neighborhood(const TraceRecord& r, const Communicators::Group& communicator, std::uint32_t ordinal);
    void exchange_between_groups(const TraceRecord& r, std::size_t size, std::uint32_t ordinal);
    void exchange_blocks(const TraceRecord& r, const Neighborhood& neighbors, std::uint32_t ordinal);
    void complete(const TraceRecord& r);
    void sendrecv(const TraceRecord& r);
    void isendrecv(const TraceRecord& r);
    void start(const TraceRecord& r);
    void partitions_ready(const TraceRecord& r);
    void partition_arrived(const TraceRecord& r);
    void matched_receive(const TraceRecord& r);
    void make_window(const TraceRecord& r);
    void free_window(const TraceRecord& r);
    /// Whether puts, gets and locks become ops: where one thread calls MPI, and the whole run is used.
    [[nodiscard]] bool simulates_one_sided() const;
    void one_sided(const TraceRecord& r);
    void access(const TraceRecord& r, Window& window);
    void passive_target(const TraceRecord& r, Window& window);
    void wait_for_accesses(Window& window, std::int32_t target, Waited waited = Waited::all);
    void forget_access(const Pending& pending);
    void lock_or_unlock(const TraceRecord& r, Window& window, collectives::Instruction::Kind kind, std::int32_t target);
    void expose(const TraceRecord& r);
    void begin_access(const TraceRecord& r);
    void complete_access(const TraceRecord& r);
    void end_exposure(const TraceRecord& r);
    Window& window_of(const TraceRecord& r);
    [[nodiscard]] std::vector<std::int32_t> listed_ranks(const TraceRecord& r) const;
    std::uint32_t announce(const TraceRecord& r, const Window& window, bool receive, std::int32_t peer, bool completed);
    void open_file(const TraceRecord& r);
    void file_call(const TraceRecord& r);
    File& file_of(const TraceRecord& r);
    void synchronise(const TraceRecord& r, std::uint64_t communicator, std::uint32_t ordinal);
    void compute_for_call(std::int64_t ns, collectives::TimedCalls& timed);
    void cancel(const TraceRecord& r);
    void leave_out_receive(const Pending& pending);
    void free_request(const TraceRecord& r);

    void compute(std::int64_t ns);
    void compute_between_polls(std::int64_t ns, std::uint64_t polls);
    void compute_in_cold_caches(std::int64_t ns);
    std::int64_t use_buffer(const collectives::Instruction& message, std::uint64_t bytes);
    std::int64_t use_buffers(const TraceRecord& r, const collectives::CollectiveSite& site);
    std::uint32_t message(const TraceRecord& r, const Message& m, bool blocking = false);
    static Message sent(const TraceRecord& r);
    void receive(const TraceRecord& r, const Message& m);
    void nonblocking(const TraceRecord& r, const Message& m, std::uint64_t request);
    std::uint32_t number_of(collectives::CollectiveSite site);
    std::uint32_t begin_of(std::span<const std::uint32_t> slots);
    bool make_blocking(std::uint32_t slot);
    void wait_for(std::span<const std::uint32_t> slots, std::span<const std::uint32_t> awaited_again = {});
    void note_received(std::span<const std::uint32_t> slots);
    bool left_out(const collectives::Instruction& message);
    void leave_out_posted();
    void leave_out_beginning(const TraceRecord& r, const RankBegin& begin);
    void use_slots(const std::map<std::uint32_t, std::uint32_t>& slots);
    void note_cancelled(std::uint32_t slot);
    void note_posted(const collectives::Instruction& receive);
    void resolve(const TraceRecord& r, const Pending& pending, Pair received);
    [[nodiscard]] Pair source_and_tag(Pair called, Pair received);
    void count_wildcard(Pair called);
    collectives::CollectiveSite site_of(const TraceRecord& r, std::size_t sizes_at, std::uint32_t ordinal);
    collectives::CollectiveSite site_between_groups(const TraceRecord& r, std::size_t sizes_at, std::uint32_t ordinal);
    std::int32_t root_of(const TraceRecord& r, std::size_t size) const;
    std::uint64_t size_of(const TraceRecord& r, std::int64_t bytes) const;
    Counts counts_of(const TraceRecord& r, std::size_t sizes_at, std::size_t size) const;
    void choose_algorithm(const TraceRecord& r, TracedCollective traced, std::uint32_t ordinal,
                          collectives::CollectiveSite& site);
    std::uint32_t peer_of(const TraceRecord& r, std::uint64_t communicator, std::int32_t peer);
    std::uint32_t tag_of(std::uint64_t communicator, std::int32_t tag, Tags::Context context);
    std::uint32_t member_of(const TraceRecord& r, const Communicators::Group& communicator) const;
    const Communicators::Group& communicator_of(const TraceRecord& r, std::uint64_t communicator);
    std::uint32_t new_slot();
    std::uint32_t slot_of_buffered();
    [[noreturn]] void fail(const TraceRecord& r, const std::string& what) const;

    const RankTrace& trace_;
    Communicators& communicators_;
    const CollectiveFileCalls& collective_file_calls_;
    Tags& tags_;
    ConsistentCut* cut_in_search_;       ///< takes down messages and collectives, to find the cut; else null
    ConsistentCut* found_cut_;           ///< where the conversion ends; else null
    MessageThreads* threads_in_search_;  ///< takes down the messages of threads; else null
    MessageThreads* found_threads_;      ///< between which threads messages go; else null
    const ConvertOptions& options_;
    BetweenCalls between_;
    std::vector<ThreadConversion> threads_;  ///< by number
    ThreadConversion* thread_ = nullptr;     ///< that made the call which is converted
    ComputationTimes* times_;
    /// The communicator that was looked up last: most calls are on the one of the call before.
    std::uint64_t last_id_ = 0;
    const Communicators::Group* last_group_ = nullptr;
    std::uint64_t wildcard_receives_ = 0;
    std::uint64_t unknown_receives_ = 0;
    collectives::TimedCalls one_sided_;
    bool has_one_sided_ = false;
    collectives::TimedCalls files_;
    std::uint32_t receives_ = 0;  ///< how many were posted, with those that are left out
    std::uint64_t call_ = 0;      ///< number of the call that is converted; the first is 1
    std::uint32_t sends_ = 0;
    std::map<std::uint32_t, PostedReceive> posted_;             ///< of a trace that is cut, by slot
    std::vector<std::uint32_t> completed_;                      ///< the slots of the requests that a call has completed
    std::vector<std::uint32_t> awaited_;                        ///< those for which a wait is added
    std::unordered_map<std::uint64_t, PendingQueue> pending_;   ///< by request, oldest first
    std::unordered_map<std::uint64_t, Message> persistent_;     ///< by request
    std::unordered_map<std::uint64_t, Partitions> partitions_;  ///< by request
    std::unordered_map<std::uint64_t, CollectiveInit> persistent_collectives_;  ///< by request
    std::multimap<std::uint64_t, ProbedMessage> probed_;                        ///< by message handle
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
        collectives_begun_;  ///< by all threads; by communicator index and the ordinal of a persistent one
    std::unordered_map<std::uint64_t, std::uint32_t> persistent_made_;  ///< collectives, by communicator
    std::map<std::tuple<std::uint64_t, std::uint64_t, bool>, std::uint32_t>
        partitioned_made_;                               ///< by communicator, peer and tag, and whether it is a receive
    std::unordered_map<std::uint64_t, Window> windows_;  ///< by id
    std::unordered_map<std::uint64_t, File> open_files_;                       ///< by id
    std::unordered_map<std::uint64_t, std::uint32_t> windows_and_files_made_;  ///< windows and files, by communicator
};

/// The operation of a traced collective, by which its algorithm is chosen.
collectives::Collective operation_of(TracedCollective traced);

}  // namespace idlewave::trace
