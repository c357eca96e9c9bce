#include "collectives/instructions.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace idlewave::collectives {
namespace {

std::uint64_t hash(const Instruction& instruction) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
    std::uint64_t mixed = static_cast<std::uint64_t>(instruction.kind) << 2 | (instruction.by_rule ? 2U : 0U) |
                          (instruction.blocking ? 1U : 0U);
    for (const std::uint64_t field :
         {std::uint64_t{instruction.slot}, std::uint64_t{instruction.peer}, std::uint64_t{instruction.tag},
          instruction.size, std::uint64_t{instruction.begin}, std::uint64_t{instruction.count}}) {
        mixed = (mixed ^ field) * odd;
        mixed ^= mixed >> 32;
    }
    return mixed;
}

}  // namespace

void Instructions::push_back(const Instruction& instruction) {
    if (size_ == 0xffffffff) {
        throw InputError("one rank has more than 4 billion instructions");
    }
    ++size_;
    if (instruction.kind != Instruction::Kind::calc) {
        push_word(index_of_next(instruction));
        return;
    }
    if (computation_) {
        push_word(index);
    }
    computation_ = instruction.size;
}

void Instructions::fold() {
    words_ = fold_loops(words_);
    words_.shrink_to_fit();
    times_.shrink_to_fit();
    table_ = {};
    successors_ = {};
}

std::uint64_t Instructions::memory() const {
    return words_.capacity() * sizeof words_[0] + times_.capacity() + different_.capacity() * sizeof different_[0] +
           table_.capacity() * sizeof table_[0] + successors_.capacity() * sizeof successors_[0];
}

/// Adds a word, with the computation at the end.
void Instructions::push_word(std::uint32_t word) {
    if (computation_) {
        times_.resize(times_end_);  // without the padding, which is added again
        put_prefix_varint(times_, *std::exchange(computation_, std::nullopt));
        times_end_ = times_.size();
        times_.resize(times_end_ + prefix_varint_reads);
        word |= computes;
    }
    words_.push_back(word);
}

const Instruction* Instructions::next_behind_words(Position& position, std::uint64_t& ns) const {
    if (!computation_ || position.computed) {
        return nullptr;
    }
    ns = *computation_;
    position.computed = true;
    ++position.instructions;
    return &calc;
}

/// The number of an instruction that is added. Most often it is that which came behind the last one before.
std::uint32_t Instructions::index_of_next(const Instruction& instruction) {
    if (last_ < successors_.size() && different_[successors_[last_]] == instruction) {
        last_ = successors_[last_];
        return last_;
    }
    const std::uint32_t found = index_of(instruction);
    successors_.resize(different_.size(), 0);
    successors_[last_] = found;
    last_ = found;
    return found;
}

/// The number of an instruction among the different ones.
std::uint32_t Instructions::index_of(const Instruction& instruction) {
    if (2 * (different_.size() + 1) > table_.size()) {
        grow_table();
    }
    std::uint32_t& found = table_[slot_of(instruction)];
    if (found == 0) {
        if (different_.size() == index) {
            throw InputError("one rank has more than a billion different instructions");
        }
        different_.push_back(instruction);
        found = static_cast<std::uint32_t>(different_.size());
    }
    return found - 1;
}

void Instructions::grow_table() {
    table_.assign(std::max<std::size_t>(16, 2 * table_.size()), 0);
    for (std::size_t i = 0; i < different_.size(); ++i) {
        table_[slot_of(different_[i])] = static_cast<std::uint32_t>(i + 1);
    }
}

/// The slot of an instruction, or the unused one for it.
std::size_t Instructions::slot_of(const Instruction& instruction) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t i = hash(instruction) & mask;
    while (table_[i] != 0 && !(different_[table_[i] - 1] == instruction)) {
        i = (i + 1) & mask;
    }
    return i;
}

}  // namespace idlewave::collectives
