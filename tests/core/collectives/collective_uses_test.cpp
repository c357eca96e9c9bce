#include "collectives/collective_uses.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "converted_trace.hpp"

namespace idlewave::collectives {
namespace {

using testing::no_root;
using testing::rank_of_two;
using testing::TraceBytes;
using testing::world;

constexpr auto traced_allreduce = static_cast<trace::Call>(64 + 3);

/// Two ranks that reduce these numbers of bytes, and a barrier.
std::vector<TraceBytes> reducing(const std::vector<std::uint64_t>& sizes) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (TraceBytes& file : files) {
        std::int64_t now = 2000;
        for (const std::uint64_t size : sizes) {
            file.call(traced_allreduce, now, now + 10, {world, no_root, size, size});
            now += 1000;
        }
        file.call(testing::barrier, now, now + 10, {world, no_root, 0, 0});
    }
    return files;
}

TEST(CollectiveUses, CountACallOfAllRanksOnceByTheAlgorithmOfItsRule) {
    const auto rule = [](std::uint64_t bytes, const char* name) {
        return AlgorithmRule{
            .collective = Collective::allreduce, .bytes = bytes, .algorithm = &algorithm(Collective::allreduce, name)};
    };
    const trace::ConvertOptions rules_used{.algorithms = {},
                                           .rules = AlgorithmRules({rule(0, "ring"), rule(100, "rabenseifner")})};
    const ProgramSource program = testing::program_of(reducing({8, 200, 400, 800}), rules_used);
    const std::vector<CollectiveUse> expected{{Collective::barrier, "dissemination", 1},
                                              {Collective::allreduce, "rabenseifner", 3},
                                              {Collective::allreduce, "ring", 1}};
    EXPECT_EQ(collective_uses(*program.program(), 1), expected);
    EXPECT_EQ(collective_uses(*program.program(), 8), expected) << "a call spans all copies";
}

TEST(CollectiveUses, OfACommunicatorOfSomeRanksAreInEveryCopy) {
    std::vector<TraceBytes> files = testing::with_communicator();
    files[2].call(traced_allreduce, 2000, 2010, {77, no_root, 8, 8});
    files[0].call(traced_allreduce, 2000, 2010, {77, no_root, 8, 8});
    const ProgramSource program = testing::program_of(files);
    EXPECT_EQ(collective_uses(*program.program(), 1),
              (std::vector<CollectiveUse>{{Collective::allreduce, "recursive_doubling", 1}}));
    EXPECT_EQ(collective_uses(*program.program(), 4).front().calls, 4);
}

}  // namespace
}  // namespace idlewave::collectives
