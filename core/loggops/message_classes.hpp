#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/huge_memory.hpp"
#include "goal/op.hpp"
#include "loggops/message.hpp"
#include "machine/costs.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggops {

/// All eager messages of one size and one tag. Most programs have few of these classes: a message under way carries the
/// number of its class, and the costs of a class are computed once. The tag also says whether messages within a node
/// pass through the buffer that its ranks share.
struct alignas(64) MessageClass {
    Message message;
    machine::Costs network;
    machine::Costs within_node;

    [[nodiscard, gnu::always_inline]] const machine::Costs& costs(machine::LevelKind level) const {
        return level == machine::LevelKind::network ? network : within_node;
    }
};

/// The message classes of a run, shared by all threads: those of the first sizes and tags, up to `most`. Where many
/// more come, as in irregular programs, a class would cost more than it saves. A class never moves or changes, and a
/// message that has none never gets one. On a machine whose L and G vary over time no message has a class, since the
/// costs of a class never change. A thread reads a class that it has looked up, under the lock or once all
/// classes are there; or one whose number came with a message: then a barrier lies between the write and the read.
class MessageClasses {
  public:
    static constexpr std::uint16_t most = 8192;  ///< a table that is mapped: what is not used of it costs nothing

    explicit MessageClasses(const machine::Machine& machine)
        : machine_(machine), table_(most, Pages::small), full_(!machine.variation.empty()) {}

    [[nodiscard]] const MessageClass& operator[](std::uint16_t code) const { return table_[code]; }

    /// The number of a message's class; Message::no_class if it has none.
    std::uint16_t number(std::uint64_t size, std::uint32_t tag) {
        if (full_.load(std::memory_order_acquire)) {
            return numbers_[slot_of(size, tag)].number;
        }
        const std::lock_guard lock(mutex_);
        Slot& slot = numbers_[slot_of(size, tag)];
        if (slot.number == Message::no_class && count_ < most) {
            add(size, tag);  // it may throw TimeOverflow, so the slot is written afterwards
            slot = {.number = static_cast<std::uint16_t>(count_), .mark = mark_of(hash_of(size, tag))};
            full_.store(++count_ == most, std::memory_order_release);
        }
        return slot.number;
    }

  private:
    /// A class, and further bits of its hash, so that other classes are seldom read.
    struct Slot {
        std::uint16_t number = Message::no_class;
        std::uint16_t mark = 0;
    };

    [[nodiscard]] static std::uint64_t hash_of(std::uint64_t size, std::uint32_t tag) {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
        return ((size * odd) ^ tag) * odd;
    }
    [[nodiscard]] static std::uint16_t mark_of(std::uint64_t hash) { return static_cast<std::uint16_t>(hash >> 32); }

    /// The slot of a class, or the free one for it.
    [[nodiscard]] std::size_t slot_of(std::uint64_t size, std::uint32_t tag) const {
        const std::uint64_t hash = hash_of(size, tag);
        std::size_t i = hash >> 48 & (numbers_.size() - 1);
        while (numbers_[i].number != Message::no_class &&
               (numbers_[i].mark != mark_of(hash) || !is(table_[numbers_[i].number].message, size, tag))) {
            i = (i + 1) & (numbers_.size() - 1);
        }
        return i;
    }
    [[nodiscard]] static bool is(const Message& message, std::uint64_t size, std::uint32_t tag) {
        return message.size == size && message.tag == tag;
    }

    void add(std::uint64_t size, std::uint32_t tag) {
        const machine::Costs network = machine::costs(machine_.network, size);
        table_[count_] = {.message = {.size = size, .tag = tag, .message_class = static_cast<std::uint16_t>(count_)},
                          .network = network,
                          .within_node = within_node(size, tag, network)};
    }
    [[nodiscard]] machine::Costs within_node(std::uint64_t size, std::uint32_t tag,
                                             const machine::Costs& network) const {
        if (machine_.shared_buffer && goal::has_shared_buffer_tag(tag)) {
            return machine::costs(*machine_.shared_buffer, size);
        }
        return machine_.node ? machine::costs(*machine_.node, size) : network;
    }

    const machine::Machine& machine_;
    HugeArray<MessageClass> table_;
    std::array<Slot, 2 * std::size_t{most}> numbers_;  ///< a hash table with linear probing
    std::uint32_t count_ = 0;
    std::atomic<bool> full_;  ///< no further message gets a class
    std::mutex mutex_;
};

/// A thread's cache of the classes that it used last.
class RecentClasses {
  public:
    explicit RecentClasses(MessageClasses& classes) : classes_(classes) { recent_.fill({no_size, 0, nullptr}); }

    /// The class of a message: nullptr if it has none.
    [[gnu::always_inline]] const MessageClass* find(std::uint64_t size, std::uint32_t tag) {
        Recent& recent = recent_[(size ^ (std::uint64_t{tag} * 0x9e3779b97f4a7c15U >> 40)) % recent_.size()];
        if (recent.size != size || recent.tag != tag) [[unlikely]] {
            look_up(recent, size, tag);
        }
        return recent.message_class;
    }

  private:
    struct Recent {
        std::uint64_t size;
        std::uint32_t tag;
        const MessageClass* message_class;
    };
    static constexpr std::uint64_t no_size = ~std::uint64_t{0};  ///< that no message has

    [[gnu::noinline]] void look_up(Recent& recent, std::uint64_t size, std::uint32_t tag) {
        const std::uint16_t number = classes_.number(size, tag);
        recent = {size, tag, number == Message::no_class ? nullptr : &classes_[number]};
    }

    MessageClasses& classes_;
    std::array<Recent, 256> recent_;
};

}  // namespace idlewave::loggops
