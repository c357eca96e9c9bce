#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "../core/support/temporary_file.hpp"
#include "base/crc32c.hpp"
#include "base/error.hpp"
#include "base/version.hpp"
#include "outcome.hpp"
#include "pdes/checkpoint.hpp"

using namespace idlewave;

namespace {

constexpr std::size_t begin_of_parts = 12;
constexpr std::size_t head_of_part = 16;

/// Gives the file the beginning and checksums that are right, as far as its parts can be found: checksums alone must
/// not be what keeps the reader from harm.
void reseal(std::string& file) {
    constexpr std::string_view begin("idlekept\1\0\0\0", begin_of_parts);
    file.replace(0, std::min(file.size(), begin.size()), begin);
    for (std::size_t at = begin_of_parts; at + head_of_part <= file.size();) {
        std::uint64_t size = 0;
        std::memcpy(&size, file.data() + at, sizeof size);
        if (size > file.size() - at - head_of_part) {
            return;
        }
        const std::uint32_t crc = crc32c(std::as_bytes(std::span(file)).subspan(at + head_of_part, size));
        std::memcpy(file.data() + at + sizeof size, &crc, sizeof crc);
        at += head_of_part + size;
    }
}

/// Reads a checkpoint of one file, which is or is not whole.
void read(const testing::TemporaryFolder& folder, std::string_view file) {
    testing::write_file(folder / "checkpoint-1.0", file);
    try {
        static_cast<void>(pdes::CheckpointFolder(folder / "", "run").read());
        count(testing::Outcome::accepted);
    } catch (const InputError&) {
        count(testing::Outcome::refused);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const testing::TemporaryFolder folder;
    std::string file(reinterpret_cast<const char*>(data), size);
    testing::write_file(folder / "latest", "1 1\n");
    read(folder, file);
    reseal(file);
    read(folder, file);
    testing::write_file(folder / "latest", file);
    read(folder, file);
    return 0;
}
