#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/crc32c.hpp"
#include "dice.hpp"
#include "goal/idg.hpp"

namespace idlewave::testing {

/// A few changes of the kinds that files suffer: bits, bytes, numbers, pieces lost, doubled or put elsewhere.
inline void damage(Dice& dice, std::string& bytes) {
    constexpr std::uint32_t numbers[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    for (std::uint64_t n = 1 + dice.roll(3); n > 0 && !bytes.empty(); --n) {
        const std::size_t at = dice.roll(bytes.size());
        const std::size_t length = std::min(bytes.size() - at, std::size_t{1} + dice.roll(40));
        switch (dice.roll(7)) {
            case 0:
                bytes[at] = static_cast<char>(dice.roll(256));
                break;
            case 1:
                bytes[at] = static_cast<char>(bytes[at] ^ 1 << dice.roll(8));
                break;
            case 2:
                if (at + 4 <= bytes.size()) {
                    std::memcpy(bytes.data() + at, &numbers[dice.roll(7)], 4);
                }
                break;
            case 3:
                bytes.erase(at, length);
                break;
            case 4:
                bytes.insert(at, bytes.substr(dice.roll(bytes.size()), length));
                break;
            case 5:
                bytes.resize(dice.one_in(4) ? at : bytes.size());
                break;
            default:
                bytes[at] = static_cast<char>(bytes[at] + (dice.one_in(2) ? 1 : -1));
        }
    }
}

/// Gives a damaged .idg file checksums that are right, as far as its parts can be found: checksums alone must not be
/// what keeps a reader from harm.
inline void reseal(std::string& file) {
    const auto crc = [&](std::uint64_t begin, std::uint64_t size) {
        return crc32c(std::as_bytes(std::span(file)).subspan(begin, size));
    };
    const auto put = [&](std::uint64_t at, std::uint32_t value) { std::memcpy(file.data() + at, &value, 4); };
    if (file.size() < goal::idg::header_size + goal::idg::footer_size) {
        return;
    }
    put(12, crc(0, 12));
    const std::uint64_t end = file.size() - goal::idg::footer_size;
    goal::idg::Footer footer;
    std::memcpy(static_cast<void*>(&footer), file.data() + end, sizeof footer);
    const std::uint64_t table_size = sizeof(goal::idg::Entry) * std::uint64_t{footer.ranks};
    if (table_size <= end - goal::idg::header_size) {
        const std::uint64_t table = end - table_size;
        footer.table = table;
        for (std::uint64_t at = table; at < end; at += sizeof(goal::idg::Entry)) {
            std::array<std::uint64_t, 3> begins{};
            std::memcpy(&begins[0], file.data() + at, 8);
            std::memcpy(&begins[1], file.data() + at + sizeof(goal::idg::Entry), 8);
            const std::uint64_t last = at + sizeof(goal::idg::Entry) == end ? table : begins[1];
            if (begins[0] <= last && last <= table) {
                put(at + 8, crc(begins[0], last - begins[0]));
            }
        }
        footer.table_crc = crc(table, table_size);
    }
    footer.crc = crc32c(std::as_bytes(std::span(&footer, 1)).first(goal::idg::footer_checksummed));
    std::memcpy(file.data() + end, &footer, sizeof footer);
}

}  // namespace idlewave::testing
