#include "machine/plain_detours.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/time.hpp"

namespace idlewave::machine {
namespace {

TEST(PlainDetours, RowsInNanosecondsBecomePicoseconds) {
    const PlainDetours read = read_plain_detours("0,3000\n100000.5,5.25\r\n200000.007,1.000\n");
    EXPECT_EQ(read.starts, (std::vector<Time>{0, 100'000'500, 200'000'007}));
    EXPECT_EQ(read.lengths, (std::vector<Time>{3'000'000, 5'250, 1'000}));
    EXPECT_EQ(read.bytes, std::string("0,3000\n100000.5,5.25\r\n200000.007,1.000\n").size());
}

TEST(PlainDetours, TheLongestNumberFits) {
    const PlainDetours read = read_plain_detours("999999999999999.999,1\n");
    EXPECT_EQ(read.starts, std::vector<Time>{999'999'999'999'999'999});
}

TEST(PlainDetours, ALineOfAnotherFormEndsTheRows) {
    for (const std::string other :
         {"", "1,2", "1,2 \n", " 1,2\n", "1,2,3\n", "1\n", ",2\n", "1,\n", "1.,2\n", ".5,2\n", "1.2345,2\n", "-1,2\n",
          "+1,2\n", "1e3,2\n", "1,2\r", "\"1\",2\n", "1234567890123456,2\n", "\n", "start_ns,length_ns\n"}) {
        const PlainDetours read = read_plain_detours("7,8\n" + other);
        EXPECT_EQ(read.starts, std::vector<Time>{7'000}) << other;
        EXPECT_EQ(read.lengths, std::vector<Time>{8'000}) << other;
        EXPECT_EQ(read.bytes, 4U) << other;
    }
}

}  // namespace
}  // namespace idlewave::machine
