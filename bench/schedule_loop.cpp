// A bare loop for schedules of real programs: those of eager messages by the rules of docs/model.md, on ranks with one
// CPU and one NIC, with or without noise, without wildcards, recording and threads, as simple as these rules allow. Ops
// lie in an array as they are executed, successors and posted receives beside them; events lie in buckets by window of
// the lookahead and block of ranks. Prints messages, and when the last rank has finished.
//
//     schedule_loop FILE RUNS [DETOURS PERIOD]    (DETOURS: a file, start_ns,length_ns; PERIOD in s)

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/inline_vector.hpp"
#include "base/large_vector.hpp"
#include "floors.hpp"
#include "goal/graph.hpp"
#include "goal/rank_schedule.hpp"
#include "goal/schedule_file.hpp"
#include "noise_recording.hpp"
#include "posted_receives.hpp"

namespace {

using floors::g;
using floors::L;
using floors::o;
using floors::ps_per_ns;
using floors::window;
using idlewave::goal::Edge;
using idlewave::goal::OpKind;
using schedule_loop::none;
using schedule_loop::PostedReceives;

constexpr std::int64_t G = 6'000;
constexpr std::size_t windows_ahead = 1 << 16;
constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

struct Op {
    std::uint32_t size;
    std::uint32_t peer;
    std::uint32_t tag;
    std::uint32_t successors;  ///< the index of the first in `successors_`
    std::uint16_t successor_count;
    std::uint16_t required;
    OpKind kind;
};
static_assert(sizeof(Op) == 24);

/// What is left of an op's requirements, and when the others were met.
struct Readiness {
    std::int64_t at;
    std::uint32_t left;
};

/// A message on its way, or a time at which a rank goes on by itself.
struct Event {
    std::int64_t time;
    std::uint32_t destination;
    std::uint32_t source;
    std::uint32_t tag;
    std::uint32_t size;
    std::uint32_t sequence;  ///< none: no message
};

using Events = floors::Buckets<Event, windows_ahead>;

enum class Kind : std::uint8_t { reception, send, post, calc };  // in the order of R15

struct Request {
    std::int64_t ready;
    std::uint32_t first;   ///< the op, or the source of a message
    std::uint32_t second;  ///< 0, or the number of the message
    std::uint32_t op;      ///< of a reception the receive that it matches, or none
    std::uint32_t size;
    Kind kind;
};

struct Unexpected {
    std::uint32_t source;
    std::uint32_t tag;
    std::uint32_t sequence;
    std::uint32_t op = none;  ///< the receive that has matched it
    std::int64_t matched = 0;
    std::int64_t processed = unknown;
};

struct Rank {
    std::int64_t cpu = 0;
    std::int64_t send_side = 0;
    std::int64_t receive_side = 0;
    std::int64_t last = 0;  ///< when the last of its ops has ended, and its last message was received
    std::int64_t timer = unknown;
    floors::NextDetour next_detour;
    std::uint32_t first_op = 0;
    std::uint32_t sent = 0;
    std::uint32_t posts = 0;          ///< of the pending requests
    std::uint32_t last_executed = 0;  ///< an op
    idlewave::InlineVector<Request, 4> pending;
    PostedReceives posted;
    std::vector<Unexpected> unexpected;
};

std::int64_t bytes_after_first(std::uint32_t size) {
    return size > 1 ? static_cast<std::int64_t>(size - 1) * G : 0;
}

class ScheduleLoop {
  public:
    ScheduleLoop(const idlewave::goal::Graph& graph, floors::NoiseRecording noise)
        : ranks_(graph.ranks()), noise_(std::move(noise)) {
        for (std::uint32_t r = 0; r < ranks_; ++r) {
            add(graph.rank_schedule(r));
        }
        first_op_.push_back(static_cast<std::uint32_t>(ops_.size()));
    }

    std::uint64_t run() {
        rank_ = std::vector<Rank>(ranks_);
        readiness_.resize(ops_.size());
        events_ = std::make_unique<Events>(ranks_);
        messages_ = 0;
        window_end_ = window;
        for (std::size_t op = 0; op < ops_.size(); ++op) {
            readiness_[op] = {0, ops_[op].required};
        }
        for (std::uint32_t r = 0; r < ranks_; ++r) {
            begin(r);
        }
        for (std::uint64_t now = 0; !events_->empty(); ++now) {
            window_end_ = static_cast<std::int64_t>(now + 1) * window;
            for (std::uint32_t block = 0; block < events_->blocks(); ++block) {
                std::vector<Event> bucket = events_->take(now, block);
                if (!bucket.empty()) {
                    handle(bucket);
                    events_->give(std::move(bucket));
                }
            }
        }
        return messages_;
    }

    [[nodiscard]] std::int64_t last() const {
        std::int64_t last = 0;
        for (const Rank& rank : rank_) {
            last = std::max(last, rank.last);
        }
        return last;
    }

  private:
    void add(const idlewave::goal::RankSchedule& schedule) {
        std::vector<std::vector<std::uint32_t>> successors(schedule.ops.size());
        std::vector<std::uint32_t> required(schedule.ops.size());
        for (const idlewave::goal::Requirement& r : schedule.requirements) {
            successors[r.predecessor].push_back(2 * r.successor + (r.edge == Edge::start ? 1 : 0));
            ++required[r.successor];
        }
        first_op_.push_back(static_cast<std::uint32_t>(ops_.size()));
        for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
            const idlewave::goal::Op& op = schedule.ops[i];
            constexpr std::uint32_t most = std::numeric_limits<std::uint16_t>::max();
            const bool has_wildcard = op.kind == OpKind::recv && (op.peer == none || op.tag == none);
            if (op.size > none || successors[i].size() > most || required[i] > most || has_wildcard) {
                throw std::runtime_error("this loop is not made for wildcards, 4 GiB, or 65,536 requirements of an op");
            }
            ops_.push_back(
                {static_cast<std::uint32_t>(op.size), op.peer, op.tag, static_cast<std::uint32_t>(successors_.size()),
                 static_cast<std::uint16_t>(successors[i].size()), static_cast<std::uint16_t>(required[i]), op.kind});
            for (const std::uint32_t successor : successors[i]) {
                successors_.push_back(successor);
            }
        }
    }

    void begin(std::uint32_t r) {
        Rank& rank = rank_[r];
        rank.first_op = first_op_[r];
        rank.cpu = noise_.begin(r, rank.next_detour);
        for (std::uint32_t op = 0; op < first_op_[r + 1] - first_op_[r]; ++op) {
            const Op& own = ops_[rank.first_op + op];
            if (own.required == 0 && own.kind == OpKind::recv && own.successor_count == 0 && rank.posts == 0) {
                post(rank, op, 0);  // it goes before all that become ready later
            } else if (own.required == 0) {
                ready(rank, op, 0);
            }
        }
        visit(r, nullptr, nullptr);
    }

    void push(const Event& event) { events_->push(event.time, event); }

    /// Executes the events of a bucket, rank by rank, those of a rank in the order of time.
    void handle(std::vector<Event>& bucket) {
        std::sort(bucket.begin(), bucket.end(), [](const Event& a, const Event& b) {
            return a.destination != b.destination ? a.destination < b.destination
                   : a.time != b.time             ? a.time < b.time
                   : a.source != b.source         ? a.source < b.source
                                                  : a.sequence < b.sequence;
        });
        const Event* event = bucket.data();
        const Event* const end = event + bucket.size();
        while (event != end) {
            prefetch(event[std::min<std::ptrdiff_t>(8, end - event - 1)].destination);
            prefetch_ops(event[std::min<std::ptrdiff_t>(4, end - event - 1)]);
            prefetch_receive(event[std::min<std::ptrdiff_t>(2, end - event - 1)]);
            const Event* const first = event;
            while (event != end && event->destination == first->destination) {
                ++event;
            }
            visit(first->destination, first, event);
        }
    }

    void prefetch(std::uint32_t r) const {
        constexpr std::size_t line = 64;
        const auto* bytes = reinterpret_cast<const char*>(&rank_[r]);
        for (std::size_t at = 0; at < sizeof(Rank); at += line) {
            __builtin_prefetch(bytes + at, 1);
        }
    }

    /// What a rank needs of its schedule and of its posted receives, once the rank is in the cache.
    void prefetch_ops(const Event& event) const {
        const Rank& rank = rank_[event.destination];
        const Op* const op = &ops_[rank.first_op] + rank.last_executed;
        __builtin_prefetch(op);
        __builtin_prefetch(op + 2);
        __builtin_prefetch(&readiness_[rank.first_op] + rank.last_executed, 1);
        __builtin_prefetch(&readiness_[rank.first_op] + rank.last_executed + 2, 1);
        rank.posted.prefetch(event.source, event.tag);
    }
    void prefetch_receive(const Event& event) const {
        const Rank& rank = rank_[event.destination];
        __builtin_prefetch(&successors_[0] + ops_[rank.first_op + rank.last_executed].successors);
        rank.posted.prefetch_receive(event.source, event.tag);
    }

    /// All that a rank does in this window, and what no later arrival can change.
    void visit(std::uint32_t r, const Event* event, const Event* end) {
        Rank& rank = rank_[r];
        while (true) {
            const std::int64_t next_event = event == end ? window_end_ : event->time;
            std::int64_t start = unknown;
            const std::uint32_t first = first_of(rank, start);
            if (first != none && is_decided(rank, start, rank.pending[first].ready, next_event)) {
                execute(rank, r, taken(rank, first), start);
            } else if (event == end) {
                set_timer(rank, r, start);
                return;
            } else {
                arrive(rank, *event++);
            }
        }
    }

    static std::int64_t start_of(const Rank& rank, const Request& request) {
        switch (request.kind) {
            case Kind::reception:
                return std::max({request.ready, rank.cpu, rank.receive_side});
            case Kind::send:
                return std::max({request.ready, rank.cpu, rank.send_side});
            case Kind::calc:
                return std::max(request.ready, rank.cpu);
            case Kind::post:
                break;
        }
        return request.ready;
    }

    /// The pending request that starts first (R14, R15), and when; or none.
    static std::uint32_t first_of(const Rank& rank, std::int64_t& start) {
        std::uint32_t first = none;
        for (std::uint32_t i = 0; i < rank.pending.size(); ++i) {
            const std::int64_t at = start_of(rank, rank.pending[i]);
            if (at < start || (at == start && goes_before(rank.pending[i], rank.pending[first]))) {
                first = i;
                start = at;
            }
        }
        return first;
    }
    static bool goes_before(const Request& a, const Request& b) {
        return a.ready != b.ready   ? a.ready < b.ready
               : a.kind != b.kind   ? a.kind < b.kind
               : a.first != b.first ? a.first < b.first
                                    : a.second < b.second;
    }
    static Request taken(Rank& rank, std::uint32_t i) {
        const Request request = rank.pending[i];
        rank.pending[i] = rank.pending.back();
        rank.pending.pop_back();
        rank.posts -= request.kind == Kind::post ? 1 : 0;
        return request;
    }

    static bool is_decided(const Rank& rank, std::int64_t start, std::int64_t ready, std::int64_t until) {
        const std::int64_t reception = std::max({until, rank.cpu, rank.receive_side});
        return start < reception || (start == reception && ready < until);
    }

    void set_timer(Rank& rank, std::uint32_t r, std::int64_t time) {
        if (time < rank.timer) {
            rank.timer = time;
            push({time, r, 0, 0, 0, none});
        }
    }

    void arrive(Rank& rank, const Event& event) {
        if (event.sequence == none) {
            rank.timer = rank.timer == event.time ? unknown : rank.timer;
            return;
        }
        const std::uint32_t op = rank.posted.take(event.source, event.tag);
        if (op == none) {
            rank.unexpected.push_back({event.source, event.tag, event.sequence});
        }
        rank.pending.push_back({event.time, event.source, event.sequence, op, event.size, Kind::reception});
    }

    void execute(Rank& rank, std::uint32_t r, const Request& request, std::int64_t now) {
        if (request.kind == Kind::reception) {
            receive(rank, request, now);
            return;
        }
        const Op& op = ops_[rank.first_op + request.op];
        rank.last_executed = request.op;
        switch (request.kind) {
            case Kind::reception:
                break;
            case Kind::send:
                rank.cpu = noise_.finish(rank.next_detour, now, o);
                rank.send_side = now + g + bytes_after_first(op.size);
                push({rank.cpu + L, op.peer, r, op.tag, op.size, rank.sent++});
                ++messages_;
                meet(rank, request.op, Edge::start, now);
                end(rank, request.op, rank.cpu);
                break;
            case Kind::post:
                post(rank, request.op, now);
                break;
            case Kind::calc:
                rank.cpu = noise_.finish(rank.next_detour, now, static_cast<std::int64_t>(op.size) * ps_per_ns);
                meet(rank, request.op, Edge::start, now);
                end(rank, request.op, rank.cpu);
                break;
        }
    }

    void receive(Rank& rank, const Request& request, std::int64_t now) {
        const std::int64_t bytes = bytes_after_first(request.size);
        rank.cpu = noise_.finish(rank.next_detour, now, o);
        const std::int64_t processed = rank.cpu + bytes;
        rank.receive_side = now + g + bytes;
        rank.last = std::max(rank.last, processed);
        if (request.op != none) {
            end(rank, request.op, processed);
            return;
        }
        const auto message = std::ranges::find_if(rank.unexpected, [&request](const Unexpected& each) {
            return each.source == request.first && each.sequence == request.second;
        });
        message->processed = processed;
        if (message->op != none) {
            const Unexpected complete = *message;
            rank.unexpected.erase(message);
            end(rank, complete.op, std::max(complete.matched, processed));
        }
    }

    void post(Rank& rank, std::uint32_t op_index, std::int64_t now) {
        const Op& op = ops_[rank.first_op + op_index];
        const auto message = std::ranges::find_if(rank.unexpected, [&op](const Unexpected& each) {
            return each.op == none && each.source == op.peer && each.tag == op.tag;
        });
        if (message == rank.unexpected.end()) {
            rank.posted.add({op.peer, op.tag, op_index});
            meet(rank, op_index, Edge::start, now);
            return;
        }
        const std::int64_t processed = message->processed;
        message->op = op_index;
        message->matched = now;
        if (processed != unknown) {
            rank.unexpected.erase(message);
        }
        meet(rank, op_index, Edge::start, now);
        if (processed != unknown) {
            end(rank, op_index, std::max(now, processed));
        }
    }

    void end(Rank& rank, std::uint32_t op, std::int64_t at) {
        rank.last = std::max(rank.last, at);
        meet(rank, op, Edge::end, at);
    }

    /// Meets the requirements on the start or the end of an op, at `at`.
    void meet(Rank& rank, std::uint32_t op_index, Edge edge, std::int64_t at) {
        const Op& op = ops_[rank.first_op + op_index];
        for (std::uint32_t i = 0; i < op.successor_count; ++i) {
            const std::uint32_t successor = successors_[op.successors + i];
            if ((successor % 2 != 0) == (edge == Edge::start)) {
                const std::uint32_t number = rank.first_op + successor / 2;
                if (ops_[number].required == 1) {
                    ready(rank, successor / 2, at);
                    continue;
                }
                Readiness& readiness = readiness_[number];
                readiness.at = std::max(readiness.at, at);
                if (--readiness.left == 0) {
                    ready(rank, successor / 2, readiness.at);
                }
            }
        }
    }

    void ready(Rank& rank, std::uint32_t op_index, std::int64_t at) {
        const Kind kind = kind_of(ops_[rank.first_op + op_index].kind);
        rank.posts += kind == Kind::post ? 1 : 0;
        rank.pending.push_back({at, op_index, 0, op_index, 0, kind});
    }
    static Kind kind_of(OpKind kind) {
        return kind == OpKind::send ? Kind::send : kind == OpKind::recv ? Kind::post : Kind::calc;
    }

    std::uint32_t ranks_;
    floors::NoiseRecording noise_;
    std::vector<std::uint32_t> first_op_;
    idlewave::LargeVector<Op> ops_;
    idlewave::LargeVector<std::uint32_t> successors_;  ///< numbers of ops, twice, and 1 more if they wait for a start
    idlewave::LargeVector<Readiness> readiness_;
    std::vector<Rank> rank_;
    std::unique_ptr<Events> events_;
    std::uint64_t messages_ = 0;
    std::int64_t window_end_ = window;
};

}  // namespace

int main(int count, char** arguments) {
    const bool has_noise = count == 5;
    const long runs = count == 3 || has_noise ? std::strtol(arguments[2], nullptr, 10) : 0;
    const long period = has_noise ? std::strtol(arguments[4], nullptr, 10) : 0;
    if (runs < 1 || (has_noise && period < 1)) {
        std::fprintf(stderr, "usage: schedule_loop FILE RUNS [DETOURS PERIOD]: a file of start_ns,length_ns, s\n");
        return 2;
    }
    try {
        ScheduleLoop floor(idlewave::goal::read_schedule(arguments[1]),
                           has_noise ? floors::read_recording(arguments[3], period) : floors::NoiseRecording());
        floors::several(static_cast<std::size_t>(runs), [&] {
            const std::string messages = "\"messages\": " + std::to_string(floor.run());
            return messages + ", \"max_finish_ps\": " + std::to_string(floor.last());
        });
    } catch (const std::exception& error) {
        std::fprintf(stderr, "schedule_loop: %s\n", error.what());
        return 1;
    }
    return 0;
}
