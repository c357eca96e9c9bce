#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../core/support/schedule_damage.hpp"
#include "../core/support/temporary_file.hpp"
#include "base/error.hpp"
#include "goal/schedule_file.hpp"
#include "outcome.hpp"

using namespace idlewave;

namespace {

/// What the file is to be begun with, so that it comes to the reader that is meant.
std::string in_format(goal::ScheduleFormat format, std::string_view bytes) {
    std::string file(bytes);
    if (format == goal::ScheduleFormat::loggopsim) {
        file.insert(0, std::string("\x7f\x10\0\0\0\0\0\0", 8));
    } else if (format == goal::ScheduleFormat::idg) {
        file.insert(0, goal::idg::magic.data(), goal::idg::magic.size());
        file.append(goal::idg::end_magic.data(), goal::idg::end_magic.size());
        testing::reseal(file);
    }
    return file;
}

}  // namespace

/// Reads `bytes` as FUZZED_FORMAT and goes through what came of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const testing::MemoryFile file;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (!file.put(in_format(goal::ScheduleFormat::FUZZED_FORMAT, bytes))) {
        std::abort();
    }
    try {
        const goal::Graph graph = goal::read_schedule(file.path());
        goal::RankSchedule rank;
        for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
            graph.block(r).decode(rank);
        }
        count(testing::Outcome::accepted);
    } catch (const InputError&) {
        count(testing::Outcome::refused);
    }
    return 0;
}
