#include "trace/convert.hpp"

#include "base/error.hpp"
#include "trace/communicators.hpp"
#include "trace/rank_converter.hpp"
#include "trace/tags.hpp"

namespace idlewave::trace {
namespace {

void check_complete(const RankTrace& trace) {
    const TraceHeader& header = trace.header();
    const std::string who = trace.name() + ": rank " + std::to_string(header.rank);
    if (!header.finalized()) {
        throw InputError(who + (header.state == 2 ? " called MPI_Abort" : " never reached MPI_Finalize") +
                         " and has recorded " + std::to_string(trace.size()) +
                         " calls: expected the trace of a run that ended");
    }
    if (header.lost > 0) {
        throw InputError(who + " could not store " + std::to_string(header.lost) + " records: expected a whole trace");
    }
}

}  // namespace

collectives::Program convert(const Trace& trace, const ConvertOptions& options) {
    for (const RankTrace& rank : trace.ranks) {
        check_complete(rank);
    }
    Communicators communicators(trace);
    Tags tags;
    collectives::Program program{
        .ranks = {}, .communicators = {}, .reduction_cost = options.reduction_cost, .rules = options.rules};
    const std::int64_t begin = trace.begin();
    for (const RankTrace& rank : trace.ranks) {
        RankConverter converter(rank, communicators, tags, options);
        program.ranks.push_back(converter.convert(rank.header().global(rank.header().init_end) - begin));
        program.wildcards += converter.wildcards();
    }
    program.communicators = communicators.used();
    return program;
}

}  // namespace idlewave::trace
