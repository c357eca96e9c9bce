#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collectives/program.hpp"
#include "goal/goal_writer.hpp"
#include "trace/call.hpp"
#include "trace/convert.hpp"
#include "trace_bytes.hpp"

/// Traces made by hand, and what they are converted to.
namespace idlewave::testing {

using trace::not_known;
constexpr std::uint64_t no_root = pair(not_known, 0);
constexpr auto barrier = static_cast<trace::Call>(64);

inline collectives::ProgramSource program_of(const std::vector<TraceBytes>& files,
                                             const trace::ConvertOptions& options = {}) {
    return {std::make_shared<const collectives::Program>(trace::convert(trace_of(files), options)), 1};
}

/// What one rank does, as GOAL text: its statements only.
inline std::string goal(const std::vector<TraceBytes>& files, std::uint32_t rank = 0,
                        const trace::ConvertOptions& options = {}) {
    std::string text;
    goal::write_rank(text, rank, program_of(files, options).rank_schedule(rank));
    const std::size_t begin = text.find('\n', 1) + 1;
    return text.substr(begin, text.size() - begin - 2);
}

inline std::string refusal(const std::vector<TraceBytes>& files, const trace::ConvertOptions& options = {}) {
    try {
        return goal(files, 0, options);
    } catch (const InputError& error) {
        return error.what();
    }
}

/// A rank of two that left MPI_Init at 1,000 ns.
inline TraceBytes rank_of_two(std::uint32_t rank) {
    return std::move(TraceBytes(rank, 2).began(1000));
}

/// Rank 0 as given, beside a rank 1 that does nothing.
inline std::vector<TraceBytes> beside(const TraceBytes& first) {
    return {first, rank_of_two(1)};
}

/// Three ranks, of which 2 and 0, in this order, are on communicator 77.
inline std::vector<TraceBytes> with_communicator() {
    std::vector<TraceBytes> files{TraceBytes(0, 3), TraceBytes(1, 3), TraceBytes(2, 3)};
    files[2].call(trace::Call::comm_def, 0, 0, {77, world, pair(2, 0), pair(2, 0)}, 1);
    files[0].call(trace::Call::comm_def, 0, 0, {77, world, pair(2, 1)});
    return files;
}

}  // namespace idlewave::testing
