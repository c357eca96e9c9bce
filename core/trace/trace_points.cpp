#include "trace/trace_points.hpp"

#include <string>

#include "base/error.hpp"

namespace idlewave::trace {
namespace {

/// Finds how many records of a rank come before a point.
class PointSearch {
  public:
    PointSearch(const RankTrace& rank, const TracePoint& point, std::int64_t run_begin)
        : rank_(rank), point_(point), run_begin_(run_begin) {}

    std::uint64_t records() {
        rank_.each([this](const TraceRecord& record) {
            if (record.call != Call::core_wait) {
                see(record);
            }
        });
        if (point_.kind == TracePoint::Kind::pcontrol && found_ < point_.value) {
            fail("calls MPI_Pcontrol " + std::to_string(found_) + " times: expected " + std::to_string(point_.value));
        }
        if (point_.kind == TracePoint::Kind::calls && seen_ < point_.value) {
            fail("has recorded " + std::to_string(seen_) + " calls: expected " + std::to_string(point_.value));
        }
        return before_;
    }

  private:
    void see(const TraceRecord& record) {
        ++seen_;
        switch (point_.kind) {
            case TracePoint::Kind::none:
                break;
            case TracePoint::Kind::calls:
                before_ += seen_ <= point_.value ? 1 : 0;
                break;
            case TracePoint::Kind::time: {
                const std::int64_t begin = rank_.header().global(record.begin) - run_begin_;
                before_ += begin < static_cast<std::int64_t>(point_.value) ? 1 : 0;
                break;
            }
            case TracePoint::Kind::pcontrol:
                found_ += record.call == Call::pcontrol ? 1 : 0;
                if (record.call == Call::pcontrol && found_ == point_.value) {
                    before_ = seen_;
                }
        }
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw InputError(rank_.name() + ": rank " + std::to_string(rank_.header().rank) + " " + what +
                         " at least, to use the run from there or up to there");
    }

    const RankTrace& rank_;
    TracePoint point_;
    std::int64_t run_begin_;
    std::uint64_t seen_ = 0;
    std::uint64_t found_ = 0;  ///< calls of MPI_Pcontrol
    std::uint64_t before_ = 0;
};

}  // namespace

std::vector<std::uint64_t> records_before(const Trace& trace, const TracePoint& point) {
    std::vector<std::uint64_t> before;
    before.reserve(trace.ranks.size());
    const std::int64_t begin = trace.begin();
    for (const RankTrace& rank : trace.ranks) {
        before.push_back(PointSearch(rank, point, begin).records());
    }
    return before;
}

std::int64_t time_after(const RankTrace& rank, std::uint64_t records) {
    std::uint64_t seen = 0;
    std::int64_t end = rank.header().init_end;
    rank.each([&](const TraceRecord& record) {
        if (record.call != Call::core_wait && seen < records) {
            ++seen;
            end = record.end;
        }
    });
    return rank.header().global(end);
}

}  // namespace idlewave::trace
