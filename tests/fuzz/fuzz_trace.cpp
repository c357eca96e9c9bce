#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "../core/support/trace_bytes.hpp"
#include "base/error.hpp"
#include "base/time.hpp"
#include "collectives/program.hpp"
#include "collectives/program_run.hpp"
#include "collectives/threaded_program.hpp"
#include "collectives/threaded_program_run.hpp"
#include "goal/graph.hpp"
#include "goal/graph_run.hpp"
#include "loggops/simulate.hpp"
#include "trace/convert.hpp"
#include "trace/profile.hpp"

using namespace idlewave;

namespace {

/// Between the records of two ranks.
constexpr std::uint64_t next_rank = 0x4b4e41525458454e;  // "NEXTRANK"
constexpr std::size_t most_ranks_here = 4;

template <class S>
void simulate(const S& source) {
    goal::GraphBuilder written;
    for (std::uint32_t rank = 0; rank < source.ranks(); ++rank) {
        written.append(source.rank_schedule(rank));
    }
    written.finish();
    machine::Machine machine;
    machine.network.S = 64;
    loggops::simulate(source, machine, {});
}

/// What a user does with a trace, from the table of its calls to a simulation, which may not come to an end.
void use(const trace::Trace& trace, bool cut = false) {
    if (trace.duration() < 0) {
        std::abort();
    }
    trace::call_rows(trace);
    trace::ConvertOptions options;
    options.cut = cut;
    const auto program = std::make_shared<const collectives::Program>(trace::convert(trace, options));
    for (const std::uint32_t copies : {1, 2}) {
        if (program->first_threads.empty()) {
            simulate(collectives::ProgramSource(program, copies));
        } else {
            simulate(collectives::ThreadedProgramSource(program, copies));
        }
    }
}

/// Calls `attempt`, which may refuse the input, or find that it does not end.
template <class Attempt>
void refusable(Attempt attempt) {
    try {
        attempt();
    } catch (const InputError&) {
    } catch (const Standstill&) {
    } catch (const TimeOverflow&) {
    }
}

/// The bytes as records of some ranks, behind headers that are sound; `ended`: the ranks reached MPI_Finalize.
trace::Trace with_headers(std::span<const std::byte> bytes, bool ended) {
    std::vector<std::vector<std::uint64_t>> ranks(1);
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        if (word == next_rank && ranks.size() < most_ranks_here) {
            ranks.emplace_back();
        } else {
            ranks.back().push_back(word);
        }
    }
    trace::Trace trace;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
        testing::TraceBytes file(rank, static_cast<std::uint32_t>(ranks.size()));
        file.put<std::uint32_t>(48, ended ? 1 : 0);
        std::ranges::for_each(ranks[rank], [&file](std::uint64_t word) { file.append(word); });
        trace.ranks.push_back(file.read());
    }
    return trace;
}

}  // namespace

/// Takes the bytes for the file of the only rank, and for the records of several.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    refusable([&] {
        trace::Trace trace;
        trace.ranks.push_back(trace::RankTrace::from_bytes(bytes, "trace"));
        if (trace.ranks.front().header().ranks == 1) {
            use(trace);
        }
    });
    refusable([&] { use(with_headers(bytes, true)); });
    refusable([&] { use(with_headers(bytes, false), true); });
    return 0;
}
