#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/call.hpp"

namespace idlewave::trace {

/// What a record has apart from its times.
struct Content {
    Call call = Call::end_of_file;
    std::uint16_t info = 0;
    std::vector<std::uint64_t> words;
};

/// The records of a rank's file that later ones repeat (docs/trace-format.md), by the number of their slot.
class StoredRecords {
  public:
    /// The most words that all of them have.
    static constexpr std::uint64_t most_words = std::uint64_t{1} << 21;

    /// The record that followed the one before the last time; null: none did.
    [[nodiscard]] const Content* successor();
    /// The record in `slot`; null: there is none. It is the last record from here on, as one that follows or is stored.
    [[nodiscard]] const Content* repeated(std::uint16_t slot);
    /// Stores a record in `slot` (not 0) instead of another. False: all that are stored have too many words.
    [[nodiscard]] bool store(std::uint16_t slot, const Content& content);

    /// Unpacks words into `content`, of which `sizes` has the bytes of each, two to a byte, and `packed` these bytes.
    /// Those of a record that is to be stored are differences to the last such record of its call.
    void unpack(std::span<const std::byte> sizes, std::span<const std::byte> packed, bool to_be_stored,
                Content& content);

  private:
    static constexpr std::size_t reference_words = 8;

    struct Slot {
        Content content;
        std::uint16_t next = 0;  ///< the slot of the record that followed this one the last time
    };

    void follow(std::uint16_t slot);

    std::vector<Slot> slots_{1};  ///< slot 0 stands for none
    std::uint16_t last_ = 0;
    std::uint64_t words_ = 0;
    std::array<std::array<std::uint64_t, reference_words>, 256> reference_{};
};

}  // namespace idlewave::trace
