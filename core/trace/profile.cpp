#include "trace/profile.hpp"

#include <map>

#include "trace/communicators.hpp"

namespace idlewave::trace {
namespace {

bool is_send(Call call) {
    return call >= Call::send && call <= Call::irsend;
}

constexpr std::int32_t file_write = 1;  ///< the operation of a File record

/// Whether a record has no row: MPI_Init and MPI_Finalize bound the run, and topologies and waits are no calls.
bool has_no_row(Call call) {
    return call == Call::init || call == Call::finalize || call == Call::cart || call == Call::neighbors ||
           call == Call::core_wait;
}

/// Makes the rows of one rank.
class Profiler {
  public:
    Profiler(const RankTrace& trace, const Communicators& communicators)
        : trace_(trace), communicators_(communicators) {}

    CallRow row(const TraceRecord& r, std::int64_t origin) {
        const TraceHeader& header = trace_.header();
        CallRow row{.rank = header.rank,
                    .thread = r.thread,
                    .call = r.call,
                    .group = call_group(r.call),
                    .begin = header.global(r.begin) - origin,
                    .end = header.global(r.end) - origin,
                    .inside = r.call == Call::polls ? r.number(1) : r.end - r.begin};
        if (is_send(r.call) || r.call == Call::sendrecv || r.call == Call::isendrecv) {
            message(row, r.words[0], r.pair(1).first, r.number(2));
        } else if (r.call == Call::send_init || r.call == Call::psend_init) {
            persistent_[r.words[3]] = {r.words[0], r.pair(1).first, r.number(2)};
        } else if (r.call == Call::request_free) {
            persistent_.erase(r.words[0]);  // the handle may be another request's later
        } else if (r.call == Call::start && persistent_.contains(r.words[0])) {
            const Persistent& p = persistent_[r.words[0]];
            message(row, p.communicator, p.peer, p.bytes);
        } else if (is_nonblocking_collective(r.call)) {
            row.bytes = r.number(3);
        } else if (is_collective(r.call) || r.call == Call::one_sided ||
                   (r.call == Call::file && r.pair(1).first == file_write)) {
            row.bytes = r.number(2);
        }
        return row;
    }

  private:
    struct Persistent {
        std::uint64_t communicator = 0;
        std::int32_t peer = 0;
        std::int64_t bytes = 0;
    };

    void message(CallRow& row, std::uint64_t communicator, std::int32_t peer, std::int64_t bytes) const {
        const auto* known = communicators_.find(communicator, row.rank);
        if (known != nullptr && peer >= 0 && static_cast<std::size_t>(peer) < known->members.size()) {
            row.peer = known->members[static_cast<std::size_t>(peer)];
            row.bytes = bytes;
        }
    }

    const RankTrace& trace_;
    const Communicators& communicators_;
    std::map<std::uint64_t, Persistent> persistent_;
};

}  // namespace

std::vector<CallRow> call_rows(const Trace& trace) {
    const Communicators communicators(trace);
    const std::int64_t origin = trace.begin();
    std::vector<CallRow> rows;
    for (const RankTrace& rank : trace.ranks) {
        Profiler profiler(rank, communicators);
        rank.each([&](const TraceRecord& r) {
            if (!has_no_row(r.call)) {
                rows.push_back(profiler.row(r, origin));
            }
        });
    }
    return rows;
}

}  // namespace idlewave::trace
