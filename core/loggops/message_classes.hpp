#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "base/huge_memory.hpp"
#include "goal/op.hpp"
#include "loggops/message.hpp"
#include "machine/costs.hpp"
#include "machine/machine.hpp"
#include "pdes/event.hpp"

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

/// The message classes of a run, shared by all threads. A class never moves or changes. A thread reads a class that it
/// made itself, or one whose number came with a message: then a barrier lies between the write and the read.
class MessageClasses {
  public:
    explicit MessageClasses(const machine::Machine& machine) : machine_(machine), table_(most, Pages::small) {}

    [[nodiscard]] const MessageClass& operator[](std::uint16_t code) const { return table_[code]; }

    /// The number of the class; Message::no_class if there are too many classes.
    std::uint16_t number(std::uint64_t size, std::uint32_t tag) {
        const std::lock_guard lock(mutex_);
        const auto [op_index, added] = numbers_.try_emplace({size, tag}, static_cast<std::uint16_t>(numbers_.size()));
        if (!added) {
            return op_index->second;
        }
        if (numbers_.size() > most) {
            numbers_.erase(op_index);
            return Message::no_class;
        }
        MessageClass& message_class = table_[op_index->second];
        message_class.message = {.size = size, .tag = tag, .message_class = op_index->second};
        message_class.network = costs(machine_.network, size);
        message_class.within_node = message_class.network;
        if (machine_.shared_buffer && goal::has_shared_buffer_tag(tag)) {
            message_class.within_node = costs(*machine_.shared_buffer, size);
        } else if (machine_.node) {
            message_class.within_node = costs(*machine_.node, size);
        }
        return op_index->second;
    }

  private:
    static constexpr std::size_t most = pdes::QueuedEvent::anti_message;

    const machine::Machine& machine_;
    HugeArray<MessageClass> table_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint16_t> numbers_;
    std::mutex mutex_;
};

/// A thread's cache of the classes that it used last.
class RecentClasses {
  public:
    explicit RecentClasses(MessageClasses& classes) : classes_(classes) { recent_.fill(last_); }

    /// The class of a message: nullptr if there are too many classes.
    [[gnu::always_inline]] const MessageClass* find(std::uint64_t size, std::uint32_t tag) {
        if (last_.size != size || last_.tag != tag) {
            last_ = look_up(size, tag);
        }
        return last_.message_class;
    }

  private:
    struct Recent {
        std::uint64_t size;
        std::uint32_t tag;
        const MessageClass* message_class;
    };
    static constexpr std::uint64_t no_size = ~std::uint64_t{0};  ///< that no message has

    const Recent& look_up(std::uint64_t size, std::uint32_t tag) {
        Recent& recent = recent_[(size ^ (std::uint64_t{tag} * 0x9e3779b97f4a7c15U >> 40)) % recent_.size()];
        if (recent.size != size || recent.tag != tag) {
            const std::uint16_t number = classes_.number(size, tag);
            recent = {size, tag, number == Message::no_class ? nullptr : &classes_[number]};
        }
        return recent;
    }

    MessageClasses& classes_;
    Recent last_{no_size, 0, nullptr};
    std::array<Recent, 256> recent_;
};

}  // namespace idlewave::loggops
