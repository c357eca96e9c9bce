#include "trace/convert.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "trace/rank_converter.hpp"

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
                         " and has recorded " + std::to_string(trace.size()) +
                         " calls: expected the trace of a run that ended" + or_cut);
    }
    if (header.lost > 0) {
        throw InputError(who + " could not store " + std::to_string(header.lost) + " records: expected a whole trace" +
                         or_cut);
    }
}

/// Finds the last consistent point: by a conversion of all that was recorded.
void find_cut(const Trace& trace, SharedConversion& shared, ConvertOptions options) {
    options.resolve_wildcards = true;  // which message a receive took is what makes a point consistent
    for (const RankTrace& rank : trace.ranks) {
        RankConverter converter(rank, shared, options);
        try {
            converter.convert(0);
        } catch (const CannotBeBeforeCut&) {
            shared.cut->ends(rank.header().rank, converter.calls());
        }
    }
    shared.cut->find(shared.communicators.used());
    shared.cut_is_found = true;
}

}  // namespace

collectives::Program convert(const Trace& trace, const ConvertOptions& options) {
    SharedConversion shared(trace);
    if (options.cut && !std::ranges::all_of(trace.ranks, is_complete)) {
        shared.cut.emplace(trace.ranks.size());
        find_cut(trace, shared, options);
    } else {
        std::ranges::for_each(trace.ranks, check_complete);
    }
    collectives::Program program{
        .ranks = {}, .communicators = {}, .reduction_cost = options.reduction_cost, .rules = options.rules};
    const std::int64_t begin = trace.begin();
    for (const RankTrace& rank : trace.ranks) {
        RankConverter converter(rank, shared, options);
        program.ranks.push_back(converter.convert(rank.header().global(rank.header().init_end) - begin));
        program.wildcard_receives += converter.wildcard_receives();
        program.unknown_receives += converter.unknown_receives();
        program.one_sided += converter.one_sided();
        program.files += converter.files();
        if (shared.cut) {
            program.calls += rank.calls();
            program.calls_left_out += rank.calls() - converter.calls();
        }
    }
    program.communicators = shared.communicators.used();
    program.mapped_tags = shared.tags.mapped_tags();
    return program;
}

}  // namespace idlewave::trace
