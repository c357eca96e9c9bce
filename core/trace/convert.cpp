#include "trace/convert.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "trace/rank_converter.hpp"
#include "trace/trace_points.hpp"

namespace idlewave::trace {
namespace {

[[nodiscard]] bool is_complete(const RankTrace& trace) {
    return trace.header().finalized() && trace.header().lost == 0;
}

void check_complete(const RankTrace& trace) {
    const TraceHeader& header = trace.header();
    const std::string who = trace.name() + ": rank " + std::to_string(header.rank);
    const std::string or_cut = " (with --cut it is used up to its last consistent point)";
    if (!header.finalized()) {
        throw InputError(who + (header.state == 2 ? " called MPI_Abort" : " never reached MPI_Finalize") +
                         " and has recorded " + std::to_string(trace.calls()) +
                         " calls: expected the trace of a run that ended" + or_cut);
    }
    if (header.lost > 0) {
        throw InputError(who + " could not store " + std::to_string(header.lost) + " records: expected a whole trace" +
                         or_cut);
    }
}

/// Ranks that leave out all that they did, because of each other, have nothing to simulate.
void check_used(const Trace& trace, const ConsistentCut& cut) {
    const auto uses_none = [&cut](const RankTrace& rank) {
        return cut.begin(rank.header().rank) >= std::min(rank.calls(), cut.records(rank.header().rank));
    };
    if (std::ranges::all_of(trace.ranks, uses_none)) {
        throw InputError(
            trace.ranks.front().name() +
            ": no consistent point after the beginning of what is to be used comes before its end: expected "
            "points that are further apart");
    }
}

/// Finds the last consistent point, and the first one: by a conversion of all that was recorded.
void find_cut(const Trace& trace, SharedConversion& shared, ConvertOptions options) {
    options.resolve_wildcards = true;  // which message a receive took is what makes a point consistent
    for (const RankTrace& rank : trace.ranks) {
        RankConverter converter(rank, shared, options);
        try {
            converter.convert({});
        } catch (const CannotBeBeforeCut&) {
            shared.cut->ends(rank.header().rank, converter.calls());
        }
    }
    if (options.to.kind != TracePoint::Kind::none) {
        const std::vector<std::uint64_t> before = records_before(trace, options.to);
        for (std::uint32_t rank = 0; rank < before.size(); ++rank) {
            shared.cut->ends(rank, std::min(before[rank], shared.cut->records(rank)) + 1);
        }
    }
    shared.cut->find(shared.communicators.used());
    if (options.from.kind != TracePoint::Kind::none) {
        const std::vector<std::uint64_t> before = records_before(trace, options.from);
        for (std::uint32_t rank = 0; rank < before.size(); ++rank) {
            shared.cut->begins_after(rank, before[rank]);
        }
        shared.cut->find_begin();
    }
    if (options.from.kind != TracePoint::Kind::none || options.to.kind != TracePoint::Kind::none) {
        check_used(trace, *shared.cut);
    }
    shared.cut_is_found = true;
}

[[nodiscard]] bool has_threads(const RankTrace& rank) {
    return rank.threads().size() > 1;
}

/// Finds between which threads each message went, by a conversion of all calls.
void find_message_threads(const Trace& trace, SharedConversion& shared, const ConvertOptions& options) {
    const RankTrace& threaded = *std::ranges::find_if(trace.ranks, has_threads);
    const std::string threads = threaded.name() + ": rank " + std::to_string(threaded.header().rank) +
                                " calls MPI in " + std::to_string(threaded.threads().size()) + " threads";
    if (shared.cut) {
        throw InputError(threads + ": expected one thread a rank, to use a run from a point on, or up to one");
    }
    shared.message_threads.emplace(trace.ranks.size());
    for (const RankTrace& rank : trace.ranks) {
        RankConverter converter(rank, shared, options);
        converter.convert({});
        if (converter.unknown_receives() > 0 || (!options.resolve_wildcards && converter.wildcard_receives() > 0)) {
            throw InputError(threads + ", and rank " + std::to_string(rank.header().rank) +
                             " has receives that name no source: expected them to take the messages that they took in "
                             "the run, as others may leave a thread waiting for ever");
        }
    }
    shared.message_threads->find();
    shared.message_threads_are_found = true;
}

/// When each rank begins. A computation during which a stretch begins is used from there on.
std::vector<RankBegin> begins(const Trace& trace, const SharedConversion& shared, const TracePoint& from) {
    const bool timed = from.kind == TracePoint::Kind::time;
    const std::int64_t earliest = trace.begin() + (timed ? static_cast<std::int64_t>(from.value) : 0);
    std::vector<RankBegin> found;
    found.reserve(trace.ranks.size());
    for (const RankTrace& rank : trace.ranks) {
        const std::uint64_t left_out = shared.cut ? shared.cut->begin(rank.header().rank) : 0;
        const std::int64_t at = time_after(rank, left_out);
        const std::int64_t skipped = timed && left_out > 0 ? std::max<std::int64_t>(earliest - at, 0) : 0;
        found.push_back({at + skipped, skipped});
    }
    const std::int64_t first = std::ranges::min_element(found, {}, &RankBegin::offset)->offset;
    for (RankBegin& begin : found) {
        begin.offset -= first;
    }
    return found;
}

/// How long the computations of a rank take; none: as they were recorded.
std::optional<ComputationTimes> times_of(const RankTrace& rank, const SharedConversion& shared,
                                         const ConvertOptions& options, SeenSites& seen) {
    if (options.computation.as_recorded()) {
        return std::nullopt;
    }
    const std::uint32_t number = rank.header().rank;
    const std::uint64_t begin = shared.cut ? shared.cut->begin(number) : 0;
    const std::uint64_t end = shared.cut ? shared.cut->records(number) : rank.calls();
    return std::make_optional<ComputationTimes>(rank, options.wall_gaps, begin, end, options.computation, seen);
}

[[nodiscard]] bool may_cut(const Trace& trace, const ConvertOptions& options) {
    const bool chosen = options.from.kind != TracePoint::Kind::none || options.to.kind != TracePoint::Kind::none;
    return chosen || (options.cut && !std::ranges::all_of(trace.ranks, is_complete));
}

}  // namespace

collectives::Program convert(const Trace& trace, const ConvertOptions& options) {
    SharedConversion shared(trace);
    if (!options.cut) {
        std::ranges::for_each(trace.ranks, check_complete);
    }
    const bool threaded = std::ranges::any_of(trace.ranks, has_threads);
    if (may_cut(trace, options)) {
        shared.cut.emplace(trace.ranks.size());
        if (!threaded) {
            find_cut(trace, shared, options);
        }
    }
    if (threaded) {
        find_message_threads(trace, shared, options);
    }
    collectives::Program program{.ranks = {},
                                 .first_threads = {},
                                 .communicators = {},
                                 .reduction_cost = options.reduction_cost,
                                 .rules = options.rules};
    const std::vector<RankBegin> ranks_begin = begins(trace, shared, options.from);
    SeenSites seen;
    for (const RankTrace& rank : trace.ranks) {
        std::optional<ComputationTimes> times = times_of(rank, shared, options, seen);
        RankConverter converter(rank, shared, options, times ? &*times : nullptr);
        if (threaded) {
            program.first_threads.push_back(static_cast<std::uint32_t>(program.ranks.size()));
        }
        std::ranges::move(converter.convert(ranks_begin[rank.header().rank]), std::back_inserter(program.ranks));
        program.wildcard_receives += converter.wildcard_receives();
        program.unknown_receives += converter.unknown_receives();
        program.one_sided += converter.one_sided();
        program.has_one_sided |= converter.has_one_sided();
        program.files += converter.files();
        if (shared.cut) {
            program.calls += rank.calls();
            const std::uint64_t begin = std::min(shared.cut->begin(rank.header().rank), converter.calls());
            program.calls_left_out += rank.calls() - converter.calls() + begin;
        }
    }
    if (threaded) {
        program.first_threads.push_back(static_cast<std::uint32_t>(program.ranks.size()));
    }
    seen.check(options.computation, trace.ranks.front().name());
    program.communicators = shared.communicators.used();
    program.mapped_tags = shared.tags.mapped_tags();
    return program;
}

}  // namespace idlewave::trace
