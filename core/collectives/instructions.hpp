#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/varint.hpp"
#include "collectives/instruction_loops.hpp"
#include "goal/op.hpp"

namespace idlewave::collectives {

inline constexpr std::uint32_t no_slot = 0xffffffff;

/// A slot with this bit is not the thread's own: another thread of the rank waits for what is in it (SharedSlot).
inline constexpr std::uint32_t shared_slot = 0x40000000;

constexpr bool is_shared_slot(std::uint32_t slot) {
    return (slot & shared_slot) != 0 && slot != no_slot;
}

/// An instruction of an MPI rank. Instructions are executed in order. A nonblocking send or receive occupies a slot, as
/// an MPI request does, and a wait ends when the ops in its slots have ended. A blocking one needs none. A signal tells
/// another thread that this one has come to it: what is in its shared slot ends there. One-sided operations occupy a
/// slot, or block, as sends do.
struct Instruction {
    enum class Kind : std::uint8_t { calc, send, recv, wait, collective, signal, put, get, lock, shared_lock, unlock };
    Kind kind = Kind::calc;
    bool blocking = false;         ///< of an op: the next instruction waits for its end
    bool by_rule = false;          ///< of a send or receive: `peer` is the number of a rule (structure.hpp)
    std::uint32_t slot = no_slot;  ///< its request; a collective with `no_slot` is blocking
    std::uint32_t peer = 0;        ///< of an op: world rank, or `any`; with a structure a distance
    std::uint32_t tag = 0;
    std::uint64_t size = 0;   ///< in bytes; of a calc in nanoseconds
    std::uint32_t begin = 0;  ///< of a wait its first entry in `slot_lists`; of a collective its entry in `collectives`
    std::uint32_t count = 0;  ///< of a wait the number of entries

    bool operator==(const Instruction&) const = default;
};

/// The op of an instruction that is one.
constexpr goal::OpKind op_kind_of(Instruction::Kind kind) {
    switch (kind) {
        case Instruction::Kind::send:
            return goal::OpKind::send;
        case Instruction::Kind::recv:
            return goal::OpKind::recv;
        case Instruction::Kind::put:
            return goal::OpKind::put;
        case Instruction::Kind::get:
            return goal::OpKind::get;
        case Instruction::Kind::lock:
            return goal::OpKind::lock;
        case Instruction::Kind::shared_lock:
            return goal::OpKind::shared_lock;
        case Instruction::Kind::unlock:
            return goal::OpKind::unlock;
        default:
            return goal::OpKind::calc;
    }
}

/// Whether an instruction is an op between two ranks.
constexpr bool is_communication(Instruction::Kind kind) {
    return op_kind_of(kind) != goal::OpKind::calc;
}

/// The instructions of a rank, in order. A program repeats few different ones (by kind, peer, tag, size and slot) again
/// and again: each of these is stored once, and an instruction is a word with its number. Computation takes another
/// time each time. It has no word of its own: the next instruction's word says that there is computation before it, and
/// how long it takes is in a column of variable-length numbers. So a call and the computation before it take five to
/// seven bytes; and where the words repeat themselves, as the iterations of a program do, `fold` makes loops of them,
/// so that only the times remain: one to three bytes.
class Instructions {
  public:
    /// Where a rank is in its instructions.
    struct Position {
        std::uint64_t time = 0;  ///< in the column of times
        std::uint32_t word = 0;
        bool computed = false;           ///< the computation before the instruction of the word is behind it
        std::uint32_t instructions = 0;  ///< before it, with calcs
        LoopPosition loops;
    };

    void push_back(const Instruction& instruction);

    /// Adds `ns` to the calc at the end, or a calc if another instruction is there.
    void extend_calc(std::uint64_t ns) {
        if (computation_) {
            *computation_ += ns;
        } else {
            push_back({.kind = Instruction::Kind::calc, .size = ns});
        }
    }

    /// The word of the last instruction that is no calc, for `at_word` and `replace_word`.
    [[nodiscard]] std::uint32_t last_word() const { return static_cast<std::uint32_t>(words_.size() - 1); }

    /// The instruction of a word that has one, before `fold`.
    [[nodiscard]] const Instruction& at_word(std::uint32_t word) const { return different_[words_[word] & index]; }
    [[nodiscard]] bool ends_with_calc() const { return computation_.has_value(); }

    /// Replaces an instruction that is no calc by another.
    void replace_word(std::uint32_t word, const Instruction& instruction) {
        words_[word] = (words_[word] & ~index) | index_of(instruction);
    }

    /// Makes loops of the words' repetitions. Afterwards instructions are only read, by `next` and `each`.
    void fold();

    /// The memory of the words, the times and the different instructions in bytes.
    [[nodiscard]] std::uint64_t memory() const;

    /// The number of instructions.
    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size() == 0; }

    /// The instruction at a position, which moves behind it: null at the end. Of a calc, `ns` gets the nanoseconds, and
    /// its `size` is not used.
    [[nodiscard, gnu::always_inline]] const Instruction* next(Position& position, std::uint64_t& ns) const {
        for (; !is_behind_words(position); pass_word(position)) {
            const std::uint32_t word = word_at(position);
            if (has_calc(word, position)) {
                const Calc found = calc_at(position);
                pass_calc(position, found);
                ns = found.ns;
                return &calc;
            }
            if (const Instruction* const found = instruction_of(word)) {
                pass_instruction(position);
                return found;
            }
        }
        return next_behind_words(position, ns);
    }

    // The same in steps, to look at what comes next before it is passed. A word has a calc, or an instruction, or both,
    // the calc first, or neither: then it is passed as a whole.

    [[nodiscard, gnu::always_inline]] bool is_behind_words(const Position& position) const {
        return words_.data() + position.word == words_.data() + words_.size();  // of pointers: no size is computed
    }

    [[nodiscard, gnu::always_inline]] std::uint32_t word_at(const Position& position) const {
        return words_[position.word];
    }

    /// Whether the computation of a word comes next.
    [[nodiscard, gnu::always_inline]] static bool has_calc(std::uint32_t word, const Position& position) {
        return (word & computes) != 0 && !position.computed;
    }

    struct Calc {
        std::uint64_t ns = 0;
        std::uint64_t behind = 0;  ///< where the next one is in the column of times
    };
    [[nodiscard, gnu::always_inline]] Calc calc_at(const Position& position) const {
        const std::uint8_t* at = times_.data() + position.time;
        const std::uint64_t ns = take_prefix_varint(at);
        return {ns, static_cast<std::uint64_t>(at - times_.data())};
    }
    [[gnu::always_inline]] static void pass_calc(Position& position, const Calc& passed) {
        position.time = passed.behind;
        position.computed = true;
        ++position.instructions;
    }

    /// The instruction of a word, which comes next if its computation does not; null if it has none.
    [[nodiscard, gnu::always_inline]] const Instruction* instruction_of(std::uint32_t word) const {
        if ((word & ~computes) >= index) [[unlikely]] {
            return nullptr;
        }
        return &different_[word & index];
    }
    [[gnu::always_inline]] static void pass_instruction(Position& position) {
        ++position.word;
        position.computed = false;
        ++position.instructions;
    }

    /// Passes a word without an instruction: the end of a loop, or one that was there for its computation only.
    void pass_word(Position& position) const {
        if ((words_[position.word] & loop_bit) != 0) {
            position.word = next_in_loop(words_, position.word, position.loops);
        } else {
            ++position.word;
            position.computed = false;
        }
    }

    /// Calls `use` with each instruction.
    template <class Use>
    void each(Use use) const {
        Position position;
        std::uint64_t ns = 0;
        while (const Instruction* found = next(position, ns)) {
            Instruction instruction = *found;
            if (instruction.kind == Instruction::Kind::calc) {
                instruction.size = ns;
            }
            use(instruction);
        }
    }

  private:
    static constexpr std::uint32_t computes = 0x80000000;  ///< there is computation before the instruction
    static constexpr std::uint32_t index = 0x3fffffff;     ///< of the instruction in different_; all ones: none
    static_assert(index < loop_bit && loop_bit < computes, "words without an instruction have the largest numbers");
    static constexpr Instruction calc{};

    void push_word(std::uint32_t word);
    [[nodiscard]] const Instruction* next_behind_words(Position& position, std::uint64_t& ns) const;
    [[nodiscard]] std::uint32_t index_of_next(const Instruction& instruction);
    [[nodiscard]] std::uint32_t index_of(const Instruction& instruction);
    void grow_table();
    [[nodiscard]] std::size_t slot_of(const Instruction& instruction) const;

    std::vector<std::uint32_t> words_;
    std::vector<std::uint8_t> times_;           ///< ns of the computation before the words that have some, and padding
    std::size_t times_end_ = 0;                 ///< where the padding begins, which is read with the last one
    std::vector<Instruction> different_;        ///< each instruction once
    std::vector<std::uint32_t> successors_;     ///< of each the number of the one that came behind it last
    std::uint32_t last_ = 0;                    ///< the number of the last instruction that was added
    std::vector<std::uint32_t> table_;          ///< a hash table of these: their numbers plus one
    std::optional<std::uint64_t> computation_;  ///< the calc at the end, ns
    std::uint32_t size_ = 0;
};

}  // namespace idlewave::collectives
