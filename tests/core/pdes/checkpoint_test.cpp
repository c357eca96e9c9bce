#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "models/phold.hpp"
#include "pdes/run_model.hpp"
#include "segmented_runs.hpp"

namespace idlewave {
namespace {

using testing::fresh_directory;
using testing::phold_of;
using testing::run;

/// The error of a restart that is refused.
std::string refusal_of_folder(const std::string& directory, const std::string& name) {
    pdes::RunConfiguration way;
    way.checkpoint = {.directory = directory, .description = name, .restart = true};
    try {
        run(models::Phold(phold_of(100, 20'000'000)), way);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Checkpoint, ACheckpointThatIsDamagedMissingOrOfAnotherRunIsRefused) {
    const std::string directory = fresh_directory();
    EXPECT_NE(refusal_of_folder(directory, "phold").find("there is no checkpoint"), std::string::npos);
    pdes::RunConfiguration way;
    way.checkpoint = {.directory = directory, .description = "phold", .interval = 0};
    run(models::Phold(phold_of(100, 20'000'000)), way);
    EXPECT_THROW(run(models::Phold(phold_of(100, 20'000'000)), way), InputError) << "a checkpoint is never overwritten";
    EXPECT_EQ(refusal_of_folder(directory, "phold"), "no error");
    EXPECT_NE(refusal_of_folder(directory, "phold of 3 LPs").find("it is of another run:\n  phold, by Idlewave"),
              std::string::npos);
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        file = entry.path().filename() == "latest" ? file : entry.path();
    }
    const auto size = std::filesystem::file_size(file);
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{9}, size / 3, size / 2, size - 1}) {
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekg(static_cast<std::streamoff>(at));
        const int byte = bytes.get();
        bytes.seekp(static_cast<std::streamoff>(at));
        bytes.put(static_cast<char>(byte ^ 1));
        bytes.close();
        EXPECT_NE(refusal_of_folder(directory, "phold").find(file.string()), std::string::npos) << "byte " << at;
        bytes.open(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(static_cast<std::streamoff>(at));
        bytes.put(static_cast<char>(byte));
    }
    EXPECT_EQ(refusal_of_folder(directory, "phold"), "no error");
    for (std::uint64_t shorter = size; shorter > 0; shorter -= std::min<std::uint64_t>(shorter, 1 + size / 200)) {
        std::filesystem::resize_file(file, shorter - 1);
        EXPECT_NE(refusal_of_folder(directory, "phold").find(file.string()), std::string::npos)
            << shorter - 1 << " bytes";
    }
    std::filesystem::remove(file);
    EXPECT_NE(refusal_of_folder(directory, "phold").find("cannot be read as a checkpoint"), std::string::npos);
}

/// The end of each part of a checkpoint file.
std::vector<std::uint64_t> ends_of_parts(const std::filesystem::path& file) {
    constexpr std::uint64_t begin = 12;
    constexpr std::uint64_t head = 16;
    std::vector<std::uint64_t> ends;
    std::ifstream bytes(file, std::ios::binary);
    for (std::uint64_t at = begin; at < std::filesystem::file_size(file); at = ends.back()) {
        std::uint64_t size = 0;
        bytes.seekg(static_cast<std::streamoff>(at));
        bytes.read(reinterpret_cast<char*>(&size), sizeof size);
        ends.push_back(at + head + size);
    }
    return ends;
}

TEST(Checkpoint, ACheckpointThatEndsBetweenTwoPartsIsRefused) {
    const std::string directory = fresh_directory();
    pdes::RunConfiguration way;
    way.scheduler = "yawns";
    way.threads = 3;
    way.checkpoint = {.directory = directory, .description = "phold", .interval = 0};
    run(models::Phold(phold_of(100, 20'000'000)), way);
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        file = entry.path().filename() == "latest" ? file : entry.path();
    }
    std::vector<std::uint64_t> ends = ends_of_parts(file);
    ASSERT_EQ(ends.back(), std::filesystem::file_size(file));
    ASSERT_GT(ends.size(), 3U);
    for (ends.pop_back(); !ends.empty(); ends.pop_back()) {
        std::filesystem::resize_file(file, ends.back());
        EXPECT_NE(refusal_of_folder(directory, "phold").find("damaged at byte"), std::string::npos);
    }
}

}  // namespace
}  // namespace idlewave
