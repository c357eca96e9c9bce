#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../core/support/trace_bytes.hpp"
#include "base/error.hpp"
#include "outcome.hpp"
#include "trace/rank_trace.hpp"

using namespace idlewave;

namespace {

/// Reads the file of a rank, twice as a conversion does, and all words of its records.
void read(std::span<const std::byte> file) {
    try {
        const trace::RankTrace rank = trace::RankTrace::from_bytes(file, "rank");
        std::uint64_t sum = 0;
        rank.each([&sum](const trace::TraceRecord& record) {
            for (const std::uint64_t word : record.words) {
                sum += word;
            }
        });
        static volatile std::uint64_t seen;
        seen = sum;
        count(testing::Outcome::accepted);
    } catch (const InputError&) {
        count(testing::Outcome::refused);
    }
}

}  // namespace

/// Takes the bytes for the file of a rank if they begin like one, else for its records: packed if their number is odd.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    if (std::string_view(reinterpret_cast<const char*>(data), size).starts_with("IDLEWTR1")) {
        read(bytes);
        return 0;
    }
    testing::TraceBytes file(0, 4);
    file.put<std::uint32_t>(8, size % 2 == 0 ? 1 : 2);
    file.bytes().insert(file.bytes().end(), bytes.begin(), bytes.end());
    read(file.bytes());
    return 0;
}
