#include "collectives/pattern.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/quote.hpp"
#include "collectives/patterns.hpp"

namespace idlewave::collectives {
namespace {

/// Whether the send counts of an all-to-all are a matrix: rank i sends to rank j the count at i · ranks + j.
bool is_matrix(const Algorithm& algorithm, std::uint32_t ranks, const PatternCall& call) {
    return algorithm.collective == Collective::alltoall && ranks > 1 && call.recv_counts.empty() &&
           call.send_counts.size() == std::size_t{ranks} * ranks;
}

/// The receive counts of such a matrix: a row for each receiver.
std::vector<std::uint64_t> transposed(const std::vector<std::uint64_t>& matrix, std::uint32_t ranks) {
    std::vector<std::uint64_t> result(matrix.size());
    for (std::size_t i = 0; i < ranks; ++i) {
        for (std::size_t j = 0; j < ranks; ++j) {
            result[j * ranks + i] = matrix[i * ranks + j];
        }
    }
    return result;
}

/// Checks counts. One pair of lists holds for all ranks, so the count that one rank sends must be the count that
/// another one receives.
void check_counts(const Algorithm& algorithm, std::uint32_t ranks, const PatternCall& call) {
    const std::string name = std::string(name_of(algorithm.collective)) + " " + std::string(algorithm.name);
    const auto all_equal = [](const std::vector<std::uint64_t>& counts) {
        return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
    };
    if (call.send_counts.empty() && call.recv_counts.empty()) {
        return;
    }
    if (algorithm.vector_counts == VectorCounts::unsupported) {
        throw InputError(name + " takes equal counts only");
    }
    if (algorithm.collective == Collective::alltoall && !is_matrix(algorithm, ranks, call) &&
        !(all_equal(call.send_counts) && all_equal(call.recv_counts) && call.send_counts == call.recv_counts)) {
        throw InputError(name +
                         ": the counts of one list for all ranks must be equal, since what one rank sends another one "
                         "receives; unequal counts are given as the send counts of all ranks, a row for each rank");
    }
}

Step compute(const CollectiveCall& call, StepNumber number) {
    if (number > 0 || call.shape->compute_ns == 0) {
        return steps::done();
    }
    return steps::work(number, call.shape->compute_ns);
}

}  // namespace

Stage stage_of(std::string_view name, std::string_view algorithm_name, std::uint32_t ranks, const PatternCall& call,
               const AlgorithmRules& rules) {
    Stage stage;
    stage.call = {.root = call.root,
                  .bytes = call.bytes,
                  .reduction_cost = call.reduction_cost,
                  .segment = call.segment,
                  .ways = call.ways};
    stage.send_counts = call.send_counts;
    stage.recv_counts = call.recv_counts;
    if (call.root >= ranks) {
        throw InputError("root " + std::to_string(call.root) + " of " + std::to_string(ranks) + " ranks");
    }
    if (name == "compute") {
        stage.step = compute;
        stage.shape = call.shape;
        return stage;
    }
    if (const Pattern* pattern = find_pattern(name)) {
        if (!algorithm_name.empty()) {
            throw InputError("the pattern " + std::string(name) + " has no algorithms, so not " +
                             quote(algorithm_name));
        }
        stage.step = pattern->step;
        stage.shape = fitted(*pattern, call.shape, ranks);
        stage.one_sided = pattern->one_sided;
        return stage;
    }
    const bool equal_counts = call.send_counts.empty() && call.recv_counts.empty();
    if (const AlgorithmRule* rule = rules.find(collective(name), ranks, call.bytes);
        rule != nullptr && algorithm_name.empty() && equal_counts) {
        stage.step = follow(*rule, stage.call);
        return stage;
    }
    const Algorithm& chosen = algorithm(collective(name), algorithm_name);
    check_counts(chosen, ranks, call);
    if (is_matrix(chosen, ranks, call)) {
        stage.recv_counts = transposed(call.send_counts, ranks);
        stage.row = ranks;
    }
    stage.own_bytes = stage.row == 0 && (!call.send_counts.empty() || !call.recv_counts.empty());
    stage.step = chosen.step;
    return stage;
}

}  // namespace idlewave::collectives
