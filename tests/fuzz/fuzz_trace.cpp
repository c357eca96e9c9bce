#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
#include "outcome.hpp"
#include "trace/convert.hpp"
#include "trace/profile.hpp"

using namespace idlewave;

namespace {

/// Between the bytes of two ranks.
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
    using testing::Outcome;
    try {
        attempt();
        count(Outcome::accepted);
    } catch (const InputError&) {
        count(Outcome::refused);
    } catch (const Standstill&) {
        count(Outcome::standstill);
    } catch (const TimeOverflow&) {
        count(Outcome::overflow);
    }
}

/// The bytes of each rank: those between two words `next_rank`.
std::vector<std::span<const std::byte>> of_ranks(std::span<const std::byte> bytes) {
    const auto* mark = reinterpret_cast<const std::byte*>(&next_rank);
    std::vector<std::span<const std::byte>> ranks;
    while (ranks.size() + 1 < most_ranks_here) {
        const auto found = std::search(bytes.begin(), bytes.end(), mark, mark + sizeof next_rank);
        if (found == bytes.end()) {
            break;
        }
        ranks.emplace_back(bytes.begin(), found);
        bytes = std::span(found + sizeof next_rank, bytes.end());
    }
    ranks.push_back(bytes);
    return ranks;
}

/// The bytes as the files of ranks.
trace::Trace with_headers(std::span<const std::byte> bytes) {
    trace::Trace trace;
    for (const std::span<const std::byte> file : of_ranks(bytes)) {
        trace.ranks.push_back(trace::RankTrace::from_bytes(file, "rank" + std::to_string(trace.ranks.size())));
    }
    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
        const trace::TraceHeader& header = trace.ranks[rank].header();
        if (header.ranks != trace.ranks.size() || header.rank != rank) {
            throw InputError("these are not the files of one run");
        }
    }
    return trace;
}

/// The bytes as records of ranks, behind headers that are sound; `ended`: the ranks reached MPI_Finalize.
trace::Trace behind_headers(std::span<const std::byte> bytes, std::uint32_t version, bool ended) {
    const std::vector<std::span<const std::byte>> ranks = of_ranks(bytes);
    trace::Trace trace;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
        testing::TraceBytes file(rank, static_cast<std::uint32_t>(ranks.size()));
        file.put<std::uint32_t>(8, version);
        file.put<std::uint32_t>(48, ended ? 1 : 0);
        file.bytes().insert(file.bytes().end(), ranks[rank].begin(), ranks[rank].end());
        trace.ranks.push_back(file.read());
    }
    return trace;
}

}  // namespace

/// Takes the bytes for the files of ranks if they begin like one, else for records: plain or packed, of a run that
/// ended or was cut, which a hash of them says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    if (std::string_view(reinterpret_cast<const char*>(data), size).starts_with("IDLEWTR1")) {
        refusable([&] { use(with_headers(bytes), size % 2 == 0); });
        return 0;
    }
    const std::size_t hash = std::hash<std::string_view>{}(std::string_view(reinterpret_cast<const char*>(data), size));
    const std::uint32_t version = hash % 2 == 0 ? 1 : 2;
    const bool ended = hash / 2 % 2 == 0;
    refusable([&] { use(behind_headers(bytes, version, ended), !ended); });
    return 0;
}
