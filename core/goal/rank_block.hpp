#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "base/varint.hpp"
#include "goal/labels.hpp"
#include "goal/listing.hpp"
#include "goal/op.hpp"

namespace idlewave {

/// How one op is written in a rank's block (docs/goal-format.md): a word of 64 bits.
namespace op_word {

enum class Kind : std::uint8_t { send, recv, calc, long_calc };

/// What an op waits for. Most wait for nothing, or for the op before: that costs nothing beside these three bits.
enum class Waits : std::uint8_t {
    no,
    previous_end,
    previous_start,
    listed,  ///< for one op, which names it among its followers
    several,
    several_and_previous_end,
    several_and_previous_start,
};

inline constexpr unsigned waits_shift = 2;
inline constexpr std::uint64_t leads_start = 1 << 5;  ///< has a list of followers, some of which wait for its start
inline constexpr std::uint64_t leads_end = 1 << 6;    ///< or for its end
inline constexpr std::uint64_t leads = leads_start | leads_end;
inline constexpr unsigned payload_shift = 7;  ///< a message: its shape; a calc: its CPU
inline constexpr unsigned size_shift = 15;    ///< of a calc
inline constexpr unsigned peer_shift = 32;    ///< of a message
inline constexpr std::uint64_t most_shapes = std::uint64_t{1} << (peer_shift - payload_shift);
inline constexpr std::uint64_t longest_calc = (std::uint64_t{1} << (64 - size_shift)) - 1;

inline Kind kind(std::uint64_t word) {
    return static_cast<Kind>(word & 3);
}
inline Waits waits(std::uint64_t word) {
    return static_cast<Waits>((word >> waits_shift) & 7);
}
inline std::uint64_t shape(std::uint64_t word) {
    return (word >> payload_shift) & (most_shapes - 1);
}
inline bool waits_for_several(std::uint64_t word) {
    return waits(word) >= Waits::several;
}
inline bool waits_for_previous(std::uint64_t word, Edge edge) {
    const Waits w = waits(word);
    return edge == Edge::end ? w == Waits::previous_end || w == Waits::several_and_previous_end
                             : w == Waits::previous_start || w == Waits::several_and_previous_start;
}
inline bool leads_by(std::uint64_t word, Edge edge) {
    return (word & (edge == Edge::start ? leads_start : leads_end)) != 0;
}

}  // namespace op_word

/// What many messages of a rank have in common. Also holds a calc that is longer than its word can say.
struct Shape {
    std::uint64_t size = 0;
    std::uint32_t tag = 0;
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    std::uint16_t unused = 0;

    bool operator==(const Shape&) const = default;
};
static_assert(sizeof(Shape) == 16);

/// The ops that wait for one op's start or end, one after the other.
class Followers {
  public:
    /// The next of them; false if there is none left.
    [[gnu::always_inline]] bool next(Place& place) {
        if (previous_waits_) {
            previous_waits_ = false;
            place = of_ + 1;
            return true;
        }
        while (at_ != nullptr) {
            const std::uint64_t value = take_varint(at_);
            if ((value & 1) == 0) {
                at_ = nullptr;
            }
            if (static_cast<Edge>((value >> 1) & 1) == edge_) {
                place = static_cast<Place>(of_ + unzigzag(value >> 2));
                return true;
            }
        }
        return false;
    }

  private:
    friend class RankBlock;

    Followers(Place of, Edge edge, bool previous_waits, const std::uint8_t* at)
        : at_(at), of_(of), edge_(edge), previous_waits_(previous_waits) {}

    const std::uint8_t* at_;  ///< the next in the list
    Place of_;
    Edge edge_;
    bool previous_waits_;  ///< the op right behind is the first of them
};

/// A view of one rank's schedule in the form in which it lies in memory and in .idg files: ten to twelve bytes an op,
/// one to three bytes for each dependency that is not on the op before. See docs/goal-format.md for the layout.
///
/// The words must come from RankEncoder, or have passed `check_block`. Ranks that differ in their peers alone may share
/// them: in most programs every rank does the same with others.
class RankBlock {
  public:
    /// The counts at the beginning.
    struct Sizes {
        std::uint64_t ops = 0;
        std::uint64_t shapes = 0;
        LabelKind labels = LabelKind::none;
        std::uint64_t link_words = 0;
        std::uint64_t label_words = 0;

        [[nodiscard]] std::uint64_t words() const { return header_words + 2 * shapes + ops + link_words + label_words; }
    };

    static constexpr std::uint64_t header_words = 2;
    static constexpr Place group = 4;                 ///< so many ops share an entry of the links' index
    static constexpr unsigned label_kind_shift = 62;  ///< in the first word; the shapes' number is below it

    RankBlock() = default;
    explicit RankBlock(const std::uint64_t* words)
        : words_(words),
          op_words_(words + header_words + 2 * sizes(words).shapes),
          peers_(reinterpret_cast<const std::byte*>(op_words_) + op_word::peer_shift / 8),
          size_(static_cast<Place>(sizes(words).ops)),
          peer_step_(sizeof(std::uint64_t)) {}

    /// Another rank with the words of `like`, and peers of its own: one an op, 0 of a calc.
    RankBlock(const RankBlock& like, const std::uint32_t* peers)
        : words_(like.words_),
          op_words_(like.op_words_),
          peers_(reinterpret_cast<const std::byte*>(peers)),
          size_(like.size_),
          peer_step_(sizeof(std::uint32_t)) {}

    /// The largest that any op names.
    struct Limits {
        std::uint8_t cpu = 0;
        std::uint8_t nic = 0;
        std::uint32_t peer = 0;  ///< of sends to `any` too, which no schedule may have
    };

    static Sizes sizes(const std::uint64_t* header);

    [[nodiscard]] Place size() const { return size_; }

    /// Blocks of the same words differ in their peers alone.
    [[nodiscard]] const std::uint64_t* words() const { return words_; }
    /// Whether its words are those of a rank before, and only its peers its own.
    [[nodiscard]] bool has_peers_apart() const { return peer_step_ != sizeof(std::uint64_t); }

    /// Whether the rank of another block, of these words, differs from this one in its peers alone.
    [[nodiscard]] bool is_like(std::span<const std::uint64_t> words) const;

    [[nodiscard]] Op op(Place place) const {
        Op op;
        read(place, op);
        return op;
    }
    /// Of a message; 0 of a calc where peers lie apart.
    [[nodiscard]] std::uint32_t peer(Place place) const {
        return load<std::uint32_t>(peers_ + std::uint64_t{place} * peer_step_);
    }
    /// Field by field to where it will be used: what was written in small pieces is read in a large one only after a
    /// delay.
    void read(Place place, Op& op) const;

    /// Whether behind receive `place` is a send that waits for its start alone, is the only op that does, and differs
    /// in its peer alone: an exchange.
    [[nodiscard]] bool exchanges(Place place) const;

    /// How many requirements an op has.
    [[nodiscard]] std::uint64_t requirements(Place place) const;

    [[nodiscard]] bool is_root(Place place) const { return op_word::waits(word(place)) == op_word::Waits::no; }

    /// Whether an op has more than one requirement.
    [[nodiscard]] bool joins(Place place) const { return op_word::waits_for_several(word(place)); }

    /// The ops that wait for op `place`'s start or end, in the order in which they become ready.
    [[nodiscard, gnu::always_inline]] Followers followers(Place place, Edge edge) const {
        const bool listed = op_word::leads_by(word(place), edge);
        return {place, edge, next_waits(place, edge), listed ? list(place) : nullptr};
    }
    [[nodiscard]] bool has_followers(Place place, Edge edge) const {
        return op_word::leads_by(word(place), edge) || next_waits(place, edge);
    }

    /// Bring what is needed of the ops near `place` into the cache. Where there are no links that is beyond the block:
    /// an address that is not read.
    [[gnu::always_inline]] void prefetch(Place place) const {
        __builtin_prefetch(words_);
        __builtin_prefetch(op_words_ + place);
        __builtin_prefetch(peers_ + std::uint64_t{place} * peer_step_);
        __builtin_prefetch(links() + place / group * sizeof(std::uint32_t));
        __builtin_prefetch(stream() + std::uint64_t{place} * 2);  // about as long are most entries
    }

    [[nodiscard]] Limits limits() const;

    [[nodiscard]] std::string label(Place place) const;

    /// Writes it out.
    void list_into(Listing& listing) const;

  private:
    friend class BlockCheck;

    [[nodiscard]] std::uint64_t word(Place place) const { return op_words_[place]; }
    [[nodiscard]] Shape shape(std::uint64_t index) const {
        return load<Shape>(reinterpret_cast<const std::byte*>(words_ + header_words + 2 * index));
    }
    [[nodiscard]] bool next_waits(Place place, Edge edge) const {
        return place + 1 < size() && op_word::waits_for_previous(word(place + 1), edge);
    }
    [[nodiscard]] const std::uint8_t* links() const { return reinterpret_cast<const std::uint8_t*>(op_words_ + size_); }
    [[nodiscard]] const std::uint8_t* stream() const {
        return links() + sizeof(std::uint32_t) * ((std::uint64_t{size_} + group - 1) / group);
    }
    [[nodiscard]] const std::uint8_t* entry(Place place) const;
    /// Where its followers are, if it leads any.
    [[nodiscard]] const std::uint8_t* list(Place place) const {
        const std::uint8_t* at = entry(place);
        if (op_word::waits_for_several(word(place))) {
            take_varint(at);
        }
        return at;
    }

    const std::uint64_t* words_ = nullptr;
    const std::uint64_t* op_words_ = nullptr;
    const std::byte* peers_ = nullptr;  ///< in the words, or apart
    Place size_ = 0;
    std::uint32_t peer_step_ = 0;  ///< bytes from one to the next
};

inline void RankBlock::read(Place place, Op& op) const {
    const std::uint64_t w = word(place);
    const op_word::Kind kind = op_word::kind(w);
    if (kind == op_word::Kind::calc) {
        op.size = w >> op_word::size_shift;
        op.peer = 0;
        op.tag = 0;
        op.kind = OpKind::calc;
        op.cpu = static_cast<std::uint8_t>(w >> op_word::payload_shift);
        op.nic = 0;
    } else {
        const Shape s = shape(op_word::shape(w));
        const bool message = kind != op_word::Kind::long_calc;
        op.size = s.size;
        op.peer = message ? peer(place) : 0;
        op.tag = message ? s.tag : 0;
        op.kind = kind == op_word::Kind::send ? OpKind::send : message ? OpKind::recv : OpKind::calc;
        op.cpu = s.cpu;
        op.nic = message ? s.nic : std::uint8_t{0};
    }
    op.reduction = false;
}

/// Where the links of op `place` are, which has some: behind those of the ops before it in its group.
inline const std::uint8_t* RankBlock::entry(Place place) const {
    const auto* index = reinterpret_cast<const std::byte*>(links());
    const std::uint8_t* at = stream() + load<std::uint32_t>(index + sizeof(std::uint32_t) * (place / group));
    for (Place before = place - place % group; before < place; ++before) {
        const std::uint64_t w = word(before);
        if (op_word::waits_for_several(w)) {
            take_varint(at);
        }
        if ((w & op_word::leads) != 0) {
            while ((take_varint(at) & 1) != 0) {
            }
        }
    }
    return at;
}

inline std::uint64_t RankBlock::requirements(Place place) const {
    const std::uint64_t w = word(place);
    if (!op_word::waits_for_several(w)) {
        return op_word::waits(w) == op_word::Waits::no ? 0 : 1;
    }
    const std::uint8_t* at = entry(place);
    return take_varint(at) + 2;
}

inline bool RankBlock::exchanges(Place place) const {
    if (place + 1 >= size()) {
        return false;
    }
    const std::uint64_t w = word(place);
    const std::uint64_t then = word(place + 1);
    return op_word::kind(w) == op_word::Kind::recv && op_word::kind(then) == op_word::Kind::send &&
           op_word::waits(then) == op_word::Waits::previous_start && !op_word::leads_by(w, Edge::start) &&
           op_word::shape(w) == op_word::shape(then);
}

/// Whether `words`, which may be anything, are a block as RankEncoder makes it, of a rank in a schedule of `ranks`
/// ranks. Throws InputError `expected …, found …` with the op, if it is about one; the caller knows the place.
void check_block(std::span<const std::uint64_t> words, std::uint32_t ranks);

}  // namespace idlewave
