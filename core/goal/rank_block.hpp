#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "base/varint.hpp"
#include "goal/labels.hpp"
#include "goal/op.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::goal {

/// The word of 64 bits that encodes an op in a rank's block (docs/goal-format.md).
namespace op_word {

enum class Kind : std::uint8_t { send, recv, calc, long_calc };

/// The requirements of an op, in three bits of its word. Most ops require nothing or the previous op, which takes no
/// further memory.
enum class RequirementKind : std::uint8_t {
    none,
    previous_end,
    previous_start,
    listed,  ///< one op, in whose list of successors this op is
    several,
    several_and_previous_end,
    several_and_previous_start,
};

inline constexpr unsigned requirement_shift = 2;
inline constexpr std::uint64_t lists_start =
    1 << 5;  ///< the op has a list of successors, some of which wait for its start
inline constexpr std::uint64_t lists_end = 1 << 6;  ///< … or for its end
inline constexpr std::uint64_t lists_any = lists_start | lists_end;
inline constexpr unsigned payload_shift = 7;  ///< of a message its shape; of a calc its CPU
inline constexpr unsigned size_shift = 15;    ///< of a calc
inline constexpr unsigned peer_shift = 32;    ///< of a message
inline constexpr std::uint64_t most_shapes = std::uint64_t{1} << (peer_shift - payload_shift);
inline constexpr std::uint64_t longest_calc = (std::uint64_t{1} << (64 - size_shift)) - 1;

inline Kind kind(std::uint64_t word) {
    return static_cast<Kind>(word & 3);
}
inline RequirementKind requirement_kind(std::uint64_t word) {
    return static_cast<RequirementKind>((word >> requirement_shift) & 7);
}
inline std::uint64_t shape(std::uint64_t word) {
    return (word >> payload_shift) & (most_shapes - 1);
}
inline std::uint8_t cpu_of_calc(std::uint64_t word) {
    return static_cast<std::uint8_t>(word >> payload_shift);
}
inline bool requires_several(std::uint64_t word) {
    return requirement_kind(word) >= RequirementKind::several;
}
inline bool requires_previous(std::uint64_t word, Edge edge) {
    const RequirementKind w = requirement_kind(word);
    return edge == Edge::end ? w == RequirementKind::previous_end || w == RequirementKind::several_and_previous_end
                             : w == RequirementKind::previous_start || w == RequirementKind::several_and_previous_start;
}
inline bool lists_successors_by(std::uint64_t word, Edge edge) {
    return (word & (edge == Edge::start ? lists_start : lists_end)) != 0;
}

}  // namespace op_word

/// The properties that many messages of a rank share. Also used for a calc that is too long for its word. `one_sided`
/// is the kind of a one-sided op, as OpKind numbers it, and 0 for any other. Such an op has the Kind of a receive if it
/// is an await, else that of a send: it needs the same resources and has the same precedence.
struct Shape {
    std::uint64_t size = 0;
    std::uint32_t tag = 0;
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    std::uint16_t one_sided = 0;

    bool operator==(const Shape&) const = default;
};
static_assert(sizeof(Shape) == 16);

/// An iterator over the ops that wait for the start or the end of one op.
class Successors {
  public:
    /// Advances to the next successor. False if there is none left.
    [[gnu::always_inline]] bool next(OpIndex& op_index) {
        if (next_op_too_) {
            next_op_too_ = false;
            op_index = of_ + 1;
            return true;
        }
        while (at_ != nullptr) {
            const std::uint64_t value = take_varint(at_);
            if ((value & 1) == 0) {
                at_ = nullptr;
            }
            if (static_cast<Edge>((value >> 1) & 1) == edge_) {
                op_index = static_cast<OpIndex>(of_ + unzigzag(value >> 2));
                return true;
            }
        }
        return false;
    }

  private:
    friend class RankBlock;

    Successors(OpIndex of, Edge edge, bool next_op_too, const std::uint8_t* at)
        : at_(at), of_(of), edge_(edge), next_op_too_(next_op_too) {}

    const std::uint8_t* at_;  ///< the next entry of the list; null at its end
    OpIndex of_;
    Edge edge_;
    bool next_op_too_;  ///< the next op of the rank is a successor, and the first one
};

/// A view of one rank's schedule as it is encoded in memory and in .idg files: ten to twelve bytes an op, and one to
/// three bytes for each requirement that is not on the previous op. docs/goal-format.md describes the layout.
///
/// The words must come from RankEncoder or have passed `check_block`. Ranks may share words: in most programs every
/// rank does the same with other peers, and computes for other times. Such a rank has a value of its own for each op:
/// the peer of a message, the nanoseconds of a calc.
class RankBlock {
  public:
    /// The counts in the header of a block.
    struct Sizes {
        std::uint64_t ops = 0;
        std::uint64_t shapes = 0;
        LabelKind labels = LabelKind::none;
        std::uint64_t link_words = 0;
        std::uint64_t label_words = 0;

        [[nodiscard]] std::uint64_t words() const { return header_words + 2 * shapes + ops + link_words + label_words; }
    };

    static constexpr std::uint64_t header_words = 2;
    static constexpr OpIndex group = 4;               ///< number of ops that share an entry of the links' index
    static constexpr OpIndex furthest_next_root = 8;  ///< in ops; a search for one that is further away takes longer
    static constexpr unsigned label_kind_shift = 62;  ///< in the first word, above the number of shapes

    static constexpr std::uint64_t largest_value = 0xffffffff;

    RankBlock() = default;
    explicit RankBlock(const std::uint64_t* words)
        : words_(words),
          op_words_(words + header_words + 2 * sizes(words).shapes),
          values_(reinterpret_cast<const std::byte*>(op_words_) + op_word::peer_shift / 8),
          size_(static_cast<OpIndex>(sizes(words).ops)),
          value_step_(sizeof(std::uint64_t)) {}

    /// A rank that shares the words of `like` and has its own values, one for each op.
    RankBlock(const RankBlock& like, const std::uint32_t* values)
        : words_(like.words_),
          op_words_(like.op_words_),
          values_(reinterpret_cast<const std::byte*>(values)),
          size_(like.size_),
          value_step_(sizeof(std::uint32_t)) {}

    /// The largest CPU, NIC and peer of any op.
    struct Limits {
        std::uint8_t cpu = 0;
        std::uint8_t nic = 0;
        std::uint32_t peer = 0;  ///< includes sends to `any`, which are invalid
        bool one_sided = false;  ///< whether there are one-sided ops
    };

    static Sizes sizes(const std::uint64_t* header);

    [[nodiscard]] OpIndex size() const { return size_; }

    /// Blocks with the same words differ in their values only.
    [[nodiscard]] const std::uint64_t* words() const { return words_; }
    /// Whether the rank shares the words of an earlier rank and has its own values.
    [[nodiscard]] bool has_own_values() const { return value_step_ != sizeof(std::uint64_t); }

    /// Whether a rank with these words may share this one's: they differ in peers and in the lengths of calcs only, and
    /// these fit into values.
    [[nodiscard]] bool differs_in_values_only(std::span<const std::uint64_t> words) const;

    [[nodiscard]] Op op(OpIndex op_index) const {
        Op op;
        read(op_index, op);
        return op;
    }
    /// The peer of a message.
    [[nodiscard]] std::uint32_t peer(OpIndex op_index) const { return value(op_index); }
    /// The nanoseconds of a calc that is not long: its Kind is `calc`.
    [[nodiscard]] std::uint64_t calc_size(OpIndex op_index) const {
        return has_own_values() ? value(op_index) : word(op_index) >> op_word::size_shift;
    }
    /// The value of an op, as a rank that shares words stores it; the rank must be one that may.
    [[nodiscard]] std::uint32_t encoded_value(OpIndex op_index) const {
        switch (op_word::kind(word(op_index))) {
            case op_word::Kind::calc:
                return static_cast<std::uint32_t>(calc_size(op_index));
            case op_word::Kind::long_calc:
                return 0;
            case op_word::Kind::send:
            case op_word::Kind::recv:
                break;
        }
        return peer(op_index);
    }
    /// Whether an op is a calc that is not long.
    [[nodiscard]] bool is_short_calc(OpIndex op_index) const {
        return op_word::kind(word(op_index)) == op_word::Kind::calc;
    }
    /// Decodes an op. It assigns the members one by one to their final place: a wide load of narrow stores would stall
    /// until all stores are done.
    void read(OpIndex op_index, Op& op) const;

    /// Whether an op is the receive of an exchange: the next op is a send that differs from it in the peer only,
    /// requires its start and nothing else, and is the only op that requires its start.
    [[nodiscard]] bool is_exchange(OpIndex op_index) const;

    /// Whether an op requires nothing.
    [[nodiscard]] bool is_root(OpIndex op_index) const {
        return op_word::requirement_kind(word(op_index)) == op_word::RequirementKind::none;
    }

    static constexpr OpIndex no_op = 0xffffffff;

    /// Roots are ready at the same time, so those of one kind that need the same CPU and NIC start in their order by
    /// the rules of LogGOPS (docs/model.md, R15). Returns the one after a root, or `no_op` if none is near. An exchange
    /// has none: its start is not reported.
    [[nodiscard]] OpIndex next_root(OpIndex op_index) const {
        return is_exchange(op_index) ? no_op
                                     : near_root(op_index, std::min(size_ - 1 - op_index, furthest_next_root), 1);
    }
    /// Whether a root is the next root of another one.
    [[nodiscard]] bool is_next_root(OpIndex op_index) const {
        const OpIndex before = near_root(op_index, std::min(op_index, furthest_next_root), OpIndex{0} - 1);
        return before != no_op && !is_exchange(before);
    }

    /// The ops that wait for the start or the end of an op, in the order in which they become ready.
    [[nodiscard, gnu::always_inline]] Successors successors(OpIndex op_index, Edge edge) const {
        const bool listed = op_word::lists_successors_by(word(op_index), edge);
        return {op_index, edge, next_requires(op_index, edge), listed ? list(op_index) : nullptr};
    }
    [[nodiscard]] bool has_successors(OpIndex op_index, Edge edge) const {
        return lists_successors(op_index, edge) || next_requires(op_index, edge);
    }
    /// Whether ops other than the next one wait for the start or the end of an op.
    [[nodiscard]] bool lists_successors(OpIndex op_index, Edge edge) const {
        return op_word::lists_successors_by(word(op_index), edge);
    }
    /// Whether the next op waits for it.
    [[nodiscard]] bool next_requires(OpIndex op_index, Edge edge) const {
        return op_index + 1 < size() && op_word::requires_previous(word(op_index + 1), edge);
    }
    /// Whether an op has more than one requirement.
    [[nodiscard]] bool requires_several(OpIndex op_index) const { return op_word::requires_several(word(op_index)); }

    /// Reads an op's links in one pass: calls `use(edge, successor)` with each op that waits for its start or its end,
    /// by edge in the order in which these become ready. Returns the number of its requirements.
    template <class Use>
    [[gnu::always_inline]] std::uint64_t read_links(OpIndex op_index, Use use) const {
        const std::uint64_t w = word(op_index);
        const bool several = op_word::requires_several(w);
        bool more = (w & op_word::lists_any) != 0;
        const std::uint8_t* at = several || more ? entry(op_index) : nullptr;
        const bool none = op_word::requirement_kind(w) == op_word::RequirementKind::none;
        const std::uint64_t requirements = several ? take_varint(at) + 2 : none ? 0 : 1;
        for (const Edge edge : {Edge::end, Edge::start}) {
            if (next_requires(op_index, edge)) {
                use(edge, op_index + 1);
            }
        }
        while (more) {
            const std::uint64_t value = take_varint(at);
            more = (value & 1) != 0;
            use(static_cast<Edge>((value >> 1) & 1), static_cast<OpIndex>(op_index + unzigzag(value >> 2)));
        }
        return requirements;
    }

    /// Brings the data of the ops near `op_index` into the cache. A block without links has none of these addresses for
    /// links and stream; prefetching them is harmless, since they are never read.
    [[gnu::always_inline]] void prefetch(OpIndex op_index) const {
        __builtin_prefetch(words_);
        __builtin_prefetch(op_words_ + op_index);
        __builtin_prefetch(values_ + std::uint64_t{op_index} * value_step_);
        __builtin_prefetch(links() + op_index / group * sizeof(std::uint32_t));
        __builtin_prefetch(stream() + std::uint64_t{op_index} * 2);  // most entries are about two bytes long
    }

    /// Brings the shape of an op into the cache, once `prefetch` has brought the op.
    [[gnu::always_inline]] void prefetch_shape(OpIndex op_index) const {
        if (op_index < size_) {
            __builtin_prefetch(words_ + header_words + 2 * op_word::shape(op_words_[op_index]));
        }
    }

    [[nodiscard]] Limits limits() const;

    [[nodiscard]] std::string label(OpIndex op_index) const;

    /// Decodes the whole block.
    void decode(RankSchedule& schedule) const;

  private:
    friend class BlockCheck;

    [[nodiscard]] std::uint64_t word(OpIndex op_index) const { return op_words_[op_index]; }
    [[nodiscard]] std::uint32_t value(OpIndex op_index) const {
        return load<std::uint32_t>(values_ + std::uint64_t{op_index} * value_step_);
    }
    [[nodiscard]] Shape shape(std::uint64_t index) const {
        return load<Shape>(reinterpret_cast<const std::byte*>(words_ + header_words + 2 * index));
    }
    /// The nearest of the `most` ops in one direction that is a root like this one, or `no_op`.
    [[nodiscard]] OpIndex near_root(OpIndex op_index, OpIndex most, OpIndex step) const {
        for (OpIndex other = op_index + step; most > 0; --most, other += step) {
            if (is_root(other) && needs(other) == needs(op_index)) {
                return other;
            }
        }
        return no_op;
    }
    /// The kind of an op, and what it needs; a long calc is a calc.
    struct Needs {
        op_word::Kind kind;
        std::uint8_t cpu;
        std::uint8_t nic;
        bool one_sided;

        bool operator==(const Needs&) const = default;
    };
    [[nodiscard]] Needs needs(OpIndex op_index) const;
    [[nodiscard]] const std::uint8_t* links() const { return reinterpret_cast<const std::uint8_t*>(op_words_ + size_); }
    [[nodiscard]] const std::uint8_t* stream() const {
        return links() + sizeof(std::uint32_t) * ((std::uint64_t{size_} + group - 1) / group);
    }
    [[nodiscard]] const std::uint8_t* entry(OpIndex op_index) const;
    /// The address of the op's list of successors; the op must have one.
    [[nodiscard]] const std::uint8_t* list(OpIndex op_index) const {
        const std::uint8_t* at = entry(op_index);
        if (op_word::requires_several(word(op_index))) {
            take_varint(at);
        }
        return at;
    }

    const std::uint64_t* words_ = nullptr;
    const std::uint64_t* op_words_ = nullptr;
    const std::byte* values_ = nullptr;  ///< in the op words, where calcs have none; or in memory of this rank's own
    OpIndex size_ = 0;
    std::uint32_t value_step_ = 0;  ///< distance between two values in bytes
};

inline void RankBlock::read(OpIndex op_index, Op& op) const {
    const std::uint64_t w = word(op_index);
    const op_word::Kind kind = op_word::kind(w);
    if (kind == op_word::Kind::calc) {
        op.size = calc_size(op_index);
        op.peer = 0;
        op.tag = 0;
        op.kind = OpKind::calc;
        op.cpu = op_word::cpu_of_calc(w);
        op.nic = 0;
    } else {
        const Shape s = shape(op_word::shape(w));
        const bool message = kind != op_word::Kind::long_calc;
        op.size = s.size;
        op.peer = message ? peer(op_index) : 0;
        op.tag = message ? s.tag : 0;
        op.kind = kind == op_word::Kind::send ? OpKind::send : message ? OpKind::recv : OpKind::calc;
        if (message && s.one_sided != 0) [[unlikely]] {
            op.kind = static_cast<OpKind>(s.one_sided);
        }
        op.cpu = s.cpu;
        op.nic = message ? s.nic : std::uint8_t{0};
    }
    op.reduction = false;
}

inline RankBlock::Needs RankBlock::needs(OpIndex op_index) const {
    const std::uint64_t w = word(op_index);
    const op_word::Kind kind = op_word::kind(w);
    if (kind == op_word::Kind::calc) {
        return {kind, op_word::cpu_of_calc(w), 0, false};
    }
    const Shape s = shape(op_word::shape(w));
    return {kind == op_word::Kind::long_calc ? op_word::Kind::calc : kind, s.cpu, s.nic, s.one_sided != 0};
}

/// The address of an op's links, which lie behind the links of the ops before it in its group. The op must have some.
inline const std::uint8_t* RankBlock::entry(OpIndex op_index) const {
    const auto* index = reinterpret_cast<const std::byte*>(links());
    const std::uint8_t* at = stream() + load<std::uint32_t>(index + sizeof(std::uint32_t) * (op_index / group));
    for (OpIndex before = op_index - op_index % group; before < op_index; ++before) {
        const std::uint64_t w = word(before);
        if (op_word::requires_several(w)) {
            take_varint(at);
        }
        if ((w & op_word::lists_any) != 0) {
            while ((take_varint(at) & 1) != 0) {
            }
        }
    }
    return at;
}

inline bool RankBlock::is_exchange(OpIndex op_index) const {
    if (op_index + 1 >= size()) {
        return false;
    }
    const std::uint64_t w = word(op_index);
    const std::uint64_t then = word(op_index + 1);
    return op_word::kind(w) == op_word::Kind::recv && op_word::kind(then) == op_word::Kind::send &&
           op_word::requirement_kind(then) == op_word::RequirementKind::previous_start &&
           !op_word::lists_successors_by(w, Edge::start) && op_word::shape(w) == op_word::shape(then);
}

/// Checks that `words`, which may be arbitrary, are a block that RankEncoder could have made for a rank of a schedule
/// of `ranks` ranks. Throws InputError `expected …, found …`, with the op where it concerns one. The caller adds the
/// place in the file.
void check_block(std::span<const std::uint64_t> words, std::uint32_t ranks);

}  // namespace idlewave::goal
