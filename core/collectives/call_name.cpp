#include "collectives/call_name.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/patterns.hpp"

namespace idlewave::collectives {

// The numbers from 1 on count the algorithms, and then the patterns.

std::uint16_t call_number(StepFunction step, const CollectiveCall& call) {
    if (call.algorithm != nullptr) {
        step = call.algorithm;
    }
    std::uint16_t number = 0;
    for (const Algorithm& algorithm : algorithms()) {
        ++number;
        if (algorithm.step == step) {
            return number;
        }
    }
    for (const Pattern& pattern : patterns()) {
        ++number;
        if (pattern.step == step) {
            return number;
        }
    }
    return 0;
}

CallName call_name(std::uint16_t number) {
    if (number == 0) {
        return {};
    }
    const std::size_t index = number - std::size_t{1};
    if (index < algorithms().size()) {
        const Algorithm& algorithm = algorithms()[index];
        return {name_of(algorithm.collective), algorithm.name, true};
    }
    const std::size_t pattern = index - algorithms().size();
    return pattern < patterns().size() ? CallName{patterns()[pattern].name, {}, false} : CallName{};
}

}  // namespace idlewave::collectives
