// The sizes of caches are what the kernel says of this CPU, and usual ones where it says nothing.

#include "contention/caches.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace idlewave::probe::contention;

class Caches : public testing::Test {
  protected:
    Caches() : folder_(std::filesystem::temp_directory_path() / ("caches-" + std::to_string(getpid()))) {}
    ~Caches() override { std::filesystem::remove_all(folder_); }

    void add(int index, int level, const std::string& type, const std::string& size) const {
        const std::filesystem::path cache = folder_ / "cpu3" / "cache" / ("index" + std::to_string(index));
        std::filesystem::create_directories(cache);
        std::ofstream(cache / "level") << level << "\n";
        std::ofstream(cache / "type") << type << "\n";
        std::ofstream(cache / "size") << size << "\n";
    }

    std::filesystem::path folder_;
};

TEST_F(Caches, AreThoseOfDataAndOfBothByTheirLevels) {
    add(0, 1, "Data", "48K");
    add(1, 1, "Instruction", "32K");
    add(2, 2, "Unified", "2M");
    add(3, 3, "Unified", "32768K");
    const CacheSizes found = cache_sizes(3, folder_);
    EXPECT_TRUE(found.known);
    EXPECT_EQ(found.l1, 48u << 10);
    EXPECT_EQ(found.l2, 2u << 20);
    EXPECT_EQ(found.l3, 32u << 20);
    EXPECT_EQ(found.largest(), found.l3);
}

TEST_F(Caches, HaveNoThirdLevelWhereThereIsNone) {
    add(0, 1, "Data", "32K");
    add(1, 2, "Unified", "1024K");
    const CacheSizes found = cache_sizes(3, folder_);
    EXPECT_EQ(found.l3, 0u);
    EXPECT_EQ(found.largest(), 1u << 20);
}

TEST_F(Caches, AreUsualOnesWhereTheKernelSaysNothing) {
    EXPECT_FALSE(cache_sizes(3, folder_).known);
    EXPECT_GT(cache_sizes(3, folder_).l2, cache_sizes(3, folder_).l1);
}

}  // namespace
