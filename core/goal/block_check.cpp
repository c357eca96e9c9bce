#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "goal/rank_block.hpp"

namespace idlewave::goal {

using namespace op_word;

/// Checks a block in one pass. No value is used before it has been checked.
class BlockCheck {
  public:
    BlockCheck(std::span<const std::uint64_t> words, std::uint32_t ranks) : words_(words), ranks_(ranks) {}

    void run() {
        header();
        ops();
        links();
        waits();
        labels();
    }

  private:
    [[noreturn]] static void fail(const std::string& expected) { throw InputError("expected " + expected); }

    [[noreturn]] static void fail(OpIndex op_index, const std::string& expected) {
        throw InputError("op " + std::to_string(op_index) + ": expected " + expected);
    }

    void header() {
        constexpr std::uint64_t unused = std::uint64_t{0x1f} << 57;
        if (words_.size() < RankBlock::header_words) {
            fail("a block of at least 16 bytes, found " + std::to_string(8 * words_.size()));
        }
        sizes_ = RankBlock::sizes(words_.data());
        if (sizes_.words() != words_.size()) {
            fail("a block of " + std::to_string(8 * sizes_.words()) + " bytes, as its counts say, found " +
                 std::to_string(8 * words_.size()));
        }
        block_ = RankBlock(words_.data());
        const bool has_text = sizes_.labels == LabelKind::text;
        if ((words_[0] & unused) != 0 || sizes_.labels == LabelKind::unknown ||
            (!has_text && sizes_.label_words != 0)) {
            fail("a sound block header, found " + std::to_string(words_[0]) + " " + std::to_string(words_[1]));
        }
        if (sizes_.ops > most_ops) {
            fail("at most " + std::to_string(most_ops) + " ops, found " + std::to_string(sizes_.ops));
        }
    }

    void ops() const {
        for (OpIndex op_index = 0; op_index < sizes_.ops; ++op_index) {
            const std::uint64_t w = block_.word(op_index);
            if (op_word::requirement_kind(w) > RequirementKind::several_and_previous_start) {
                fail(op_index, "a kind of waiting from 0 to 6, found 7");
            }
            const bool first_waits =
                op_index == 0 && (requires_previous(w, Edge::start) || requires_previous(w, Edge::end));
            if (first_waits) {
                fail(op_index, "no requirement on the op before, as there is none");
            }
            if (op_word::kind(w) != Kind::calc) {
                shaped(op_index, w);
            }
        }
    }

    void shaped(OpIndex op_index, std::uint64_t w) const {
        if (op_word::shape(w) >= sizes_.shapes) {
            fail(op_index,
                 "a shape below " + std::to_string(sizes_.shapes) + ", found " + std::to_string(op_word::shape(w)));
        }
        const bool calc = op_word::kind(w) == Kind::long_calc;
        const std::uint64_t largest = calc ? largest_calc : largest_size;
        const Shape shape = block_.shape(op_word::shape(w));
        const bool may_be_synchronous = op_word::kind(w) == Kind::send && shape.one_sided == 0;
        const std::uint64_t size = may_be_synchronous ? bytes_of(shape.size) : shape.size;
        if (size > largest) {
            fail(op_index, "a size of at most " + std::to_string(largest) + ", found " + std::to_string(size));
        }
        one_sided(op_index, op_word::kind(w), shape);
        const auto peer = static_cast<std::uint32_t>(w >> peer_shift);
        const bool good = calc ? peer == 0 : peer < ranks_ || (op_word::kind(w) == Kind::recv && peer == any);
        if (!good) {
            fail(op_index, "a peer below " + std::to_string(ranks_) + ", found " + std::to_string(peer));
        }
    }

    static void one_sided(OpIndex op_index, Kind kind, const Shape& shape) {
        if (shape.one_sided == 0) {
            return;
        }
        const bool known = shape.one_sided > static_cast<std::uint16_t>(OpKind::calc) &&
                           shape.one_sided <= static_cast<std::uint16_t>(OpKind::unlock);
        const bool awaits = shape.one_sided == static_cast<std::uint16_t>(OpKind::await);
        const Kind expected = awaits ? Kind::recv : Kind::send;
        if (!known || kind != expected) {
            fail(op_index, "a kind of one-sided op that fits its word, found " + std::to_string(shape.one_sided));
        }
    }

    /// Checks the links: the index must agree with the stream, successors must exist, and the stream must end at its
    /// end.
    void links() {
        incoming_.assign(sizes_.ops, 0);
        const std::uint64_t bytes = 8 * sizes_.link_words;
        const std::uint64_t index_bytes = 4 * ((sizes_.ops + RankBlock::group - 1) / RankBlock::group);
        const std::uint8_t* index = block_.links();
        if (sizes_.link_words != 0 && bytes < index_bytes) {
            fail("dependencies of at least " + std::to_string(index_bytes) + " bytes, found " + std::to_string(bytes));
        }
        end_ = index + bytes;
        at_ = sizes_.link_words == 0 ? end_ : index + index_bytes;
        const std::uint8_t* begin = at_;
        for (OpIndex op_index = 0; op_index < sizes_.ops; ++op_index) {
            if (op_index % RankBlock::group == 0 && sizes_.link_words != 0) {
                std::uint32_t said = 0;
                std::memcpy(&said, index + 4 * (op_index / RankBlock::group), sizeof said);
                if (said != static_cast<std::uint64_t>(at_ - begin)) {
                    fail(op_index,
                         "its dependencies at byte " + std::to_string(at_ - begin) + ", found " + std::to_string(said));
                }
            }
            entry(op_index);
        }
        padding(at_, end_);
    }

    void entry(OpIndex op_index) {
        const std::uint64_t w = block_.word(op_index);
        if (requires_several(w)) {
            const std::uint64_t count = number(op_index) + 2;
            if (count > 0xffffffff) {
                fail(op_index, "fewer than 2^32 requirements, found " + std::to_string(count));
            }
            several_.push_back(static_cast<std::uint32_t>(count));
        }
        std::uint64_t found = 0;
        for (bool more = (w & lists_any) != 0; more;) {
            const std::uint64_t value = number(op_index);
            const std::int64_t successor = std::int64_t{op_index} + unzigzag(value >> 2);
            if (successor < 0 || successor >= static_cast<std::int64_t>(sizes_.ops)) {
                fail(op_index,
                     "successors below " + std::to_string(sizes_.ops) + ", found " + std::to_string(successor));
            }
            ++incoming_[static_cast<std::size_t>(successor)];
            found |= ((value >> 1) & 1) == static_cast<std::uint64_t>(Edge::start) ? lists_start : lists_end;
            more = (value & 1) != 0;
        }
        if (found != (w & lists_any)) {
            fail(op_index, "successors of its start or end as its word says, found others");
        }
    }

    std::uint64_t number(OpIndex op_index) {
        std::uint64_t value = 0;
        if (!take_varint(at_, end_, value)) {
            fail(op_index, "its dependencies to end within the block");
        }
        return value;
    }

    /// Checks each op's number of requirements.
    void waits() const {
        auto several = several_.begin();
        for (OpIndex op_index = 0; op_index < sizes_.ops; ++op_index) {
            const std::uint64_t w = block_.word(op_index);
            const bool by_word = requires_previous(w, Edge::start) || requires_previous(w, Edge::end);
            const std::uint64_t found = std::uint64_t{incoming_[op_index]} + (by_word ? 1 : 0);
            const std::uint64_t said = requires_several(w)                                     ? *several++
                                       : op_word::requirement_kind(w) == RequirementKind::none ? 0U
                                                                                               : 1U;
            if (found != said) {
                fail(op_index, std::to_string(said) + " requirements, as it says, found " + std::to_string(found));
            }
        }
    }

    void labels() const {
        if (sizes_.labels != LabelKind::text) {
            return;
        }
        const std::uint64_t begins_bytes = 4 * (sizes_.ops + 1);
        const std::uint64_t bytes = 8 * sizes_.label_words;
        if (bytes < begins_bytes) {
            fail("labels of at least " + std::to_string(begins_bytes) + " bytes, found " + std::to_string(bytes));
        }
        const auto* begins = reinterpret_cast<const std::uint8_t*>(words_.data() + words_.size() - sizes_.label_words);
        std::uint32_t before = 0;
        for (std::uint64_t i = 0; i <= sizes_.ops; ++i) {
            std::uint32_t begin = 0;
            std::memcpy(&begin, begins + 4 * i, sizeof begin);
            if (begin < before || (i == 0 && begin != 0) || begin > bytes - begins_bytes) {
                fail("labels in order and within the block, found one at byte " + std::to_string(begin));
            }
            before = begin;
        }
        const std::uint8_t* text = begins + begins_bytes;
        if (!std::all_of(text, text + before, is_label_character)) {
            fail("labels of letters, digits and '_'");
        }
        padding(text + before, begins + bytes);
    }

    static bool is_label_character(std::uint8_t c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }

    static void padding(const std::uint8_t* at, const std::uint8_t* end) {
        if (end - at > 7 || std::any_of(at, end, [](std::uint8_t byte) { return byte != 0; })) {
            fail("less than 8 bytes, all zero, to fill up the block, found " + std::to_string(end - at));
        }
    }

    std::span<const std::uint64_t> words_;
    std::uint32_t ranks_;
    RankBlock block_;  ///< set once the counts are valid
    RankBlock::Sizes sizes_;
    const std::uint8_t* at_ = nullptr;  ///< position in the links
    const std::uint8_t* end_ = nullptr;
    std::vector<std::uint32_t> incoming_;  ///< requirements found, by op, without those in op words
    std::vector<std::uint32_t> several_;   ///< stated number of requirements of the ops that have several
};

void check_block(std::span<const std::uint64_t> words, std::uint32_t ranks) {
    BlockCheck(words, ranks).run();
}

}  // namespace idlewave::goal
