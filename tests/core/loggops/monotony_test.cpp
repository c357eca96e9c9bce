#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "outcome.hpp"

namespace idlewave::loggops {
namespace {

Time last(const collectives::Composition& source, const machine::Machine& machine) {
    const auto finish = testing::finish_of(source, machine);
    return *std::max_element(finish.begin(), finish.end());
}

/// Each parameter made worse by itself.
std::vector<machine::Parameters> worse(const machine::Parameters& p) {
    std::vector<machine::Parameters> all(9, p);
    all[0].L += 137;
    all[1].o_s += 91;
    all[2].o_r += 91;
    all[3].g += 113;
    all[4].G += 0.5;
    all[5].O_s += 0.25;
    all[6].O_r += 0.25;
    all[7].c += 87;
    all[8].o_p += 61;
    return all;
}

/// In these patterns every rank's order of actions is fixed by its dependencies, so nothing can overtake, and a slower
/// machine is never faster. (Where messages compete for a CPU it may be: Graham's anomalies.)
TEST(Monotony, NoParameterMadeWorseEndsAPatternOfFixedOrderSooner) {
    const machine::Machine usual = testing::simple_machine(700, 150, 200, 2, 0.5);
    for (const auto& [collective, name] :
         {std::pair(collectives::Collective::barrier, "dissemination"),
          std::pair(collectives::Collective::bcast, "binomial"), std::pair(collectives::Collective::bcast, "chain"),
          std::pair(collectives::Collective::allreduce, "ring"), std::pair(collectives::Collective::allgather, "ring"),
          std::pair(collectives::Collective::alltoall, "pairwise"),
          std::pair(collectives::Collective::scan, "linear")}) {
        for (const std::uint32_t P : {2U, 5U, 16U, 31U}) {
            for (const std::uint64_t S : {machine::Level::always_eager, std::uint64_t{100}}) {
                machine::Machine machine = usual;
                machine.network.S = S;
                const collectives::Composition source = pattern(collectives::algorithm(collective, name), P, 1000, 0);
                const Time before = last(source, machine);
                for (const machine::Parameters& p : worse(machine.network.segments[0].parameters)) {
                    machine.network.segments[0].parameters = p;
                    EXPECT_GE(last(source, machine), before) << name << ", " << P << " ranks, S " << S;
                }
            }
        }
    }
}

}  // namespace
}  // namespace idlewave::loggops
