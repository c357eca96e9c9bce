#include "trace/stored_records.hpp"

#include <cstring>

namespace idlewave::trace {
namespace {

/// Words behind the first ones are differences to the third before: lists of completions have three words for each.
constexpr std::size_t before = 3;

std::uint64_t number(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
}

/// The signed number that stands for small absolute values as a small number.
std::uint64_t from_zigzag(std::uint64_t value) {
    return (value >> 1) ^ (std::uint64_t{0} - (value & 1));
}

}  // namespace

void StoredRecords::follow(std::uint16_t slot) {
    if (last_ != 0) {
        slots_[last_].next = slot;
    }
    last_ = slot;
}

const Content* StoredRecords::successor() {
    const std::uint16_t next = slots_[last_].next;
    if (next == 0) {
        return nullptr;
    }
    last_ = next;
    return &slots_[next].content;
}

const Content* StoredRecords::repeated(std::uint16_t slot) {
    if (slot >= slots_.size() || slots_[slot].content.call == Call::end_of_file) {
        return nullptr;
    }
    follow(slot);
    return &slots_[slot].content;
}

bool StoredRecords::store(std::uint16_t slot, const Content& content) {
    if (slot >= slots_.size()) {
        slots_.resize(std::size_t{slot} + 1);
    }
    Slot& stored = slots_[slot];
    words_ += content.words.size() - stored.content.words.size();
    if (words_ > most_words) {
        return false;
    }
    stored = {content, 0};
    follow(slot);
    return true;
}

void StoredRecords::unpack(std::span<const std::byte> sizes, std::span<const std::byte> packed, bool to_be_stored,
                           Content& content) {
    std::array<std::uint64_t, reference_words>& reference = reference_[static_cast<std::size_t>(content.call) % 256];
    std::size_t at = 0;
    for (std::size_t i = 0; i < content.words.size(); ++i) {
        const auto size = static_cast<std::size_t>(sizes[i / 2] >> (i % 2 * 4)) & 0xf;
        const std::uint64_t difference = from_zigzag(number(packed.subspan(at, size)));
        at += size;
        std::uint64_t from = 0;
        if (i >= reference_words) {
            from = content.words[i - before];
        } else if (to_be_stored) {
            from = reference[i];
        }
        content.words[i] = from + difference;
        if (i < reference_words && to_be_stored) {
            reference[i] = content.words[i];
        }
    }
}

}  // namespace idlewave::trace
