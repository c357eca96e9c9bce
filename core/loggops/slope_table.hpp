#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory_resource>
#include <mutex>
#include <type_traits>
#include <unordered_set>

#include "loggops/observer.hpp"
#include "loggops/slopes.hpp"

namespace idlewave {

class SlopeTable;
struct KnownSlopes;

/// A run has more different slopes than a table is for: it has to be simulated with slopes of each moment's own.
class TooManySlopes : public std::exception {
  public:
    [[nodiscard]] const char* what() const noexcept override { return "a run has too many different slopes to share"; }
};

/// What an activity makes of the slopes with which it begins: all that a message needs to be told, in one line of the
/// cache.
struct alignas(64) SlopeStep {
    static constexpr std::uint32_t not_made = 0xffffffff;
    static constexpr std::uint32_t no_code = 0xffffffff;
    static constexpr std::uint32_t never_a_code = 0xffff0000;  ///< there are no more

    /// What of the activity counts, beside its size. Written when all is there that stays as it is.
    std::atomic<std::uint32_t> traits = not_made;
    std::uint32_t number = 0;  ///< how many steps of its list were made before it
    std::uint64_t size = 0;    ///< as of the Activity
    /// Where the CPU is free; the NIC's side; and the message, at its arrival or when its last byte is here.
    KnownSlopes* cpu = nullptr;
    KnownSlopes* nic = nullptr;
    KnownSlopes* message = nullptr;
    std::atomic<const SlopeStep*> next = nullptr;
    /// Of the messages that it sends: a message_class (high half) and the code of those that are of it.
    mutable std::atomic<std::uint32_t> code = no_code;
};

/// Slopes that came together with others, at one time.
struct SlopeTie {
    KnownSlopes* other = nullptr;
    KnownSlopes* steepest = nullptr;
    const SlopeTie* next = nullptr;
    std::uint32_t number = 0;  ///< how many ties of its list were made before it
};

/// Slopes, and what is known to become of them: lists that grow while others read.
struct KnownSlopes {
    std::array<SlopeStep, 3> steps = {};  ///< by what is done, the first of each list
    std::atomic<const SlopeTie*> ties = nullptr;
    SlopeTable* table = nullptr;  ///< where it lies, for who knows nothing else
    Slopes<2> slopes;             ///< without a time
};

/// The slopes that occur in a run, each once, for all threads. Most ranks do what others did before, so that a
/// moment's slopes are found by one comparison where adding them up takes a hundred instructions.
class SlopeTable {
  public:
    SlopeTable();

    /// Of the beginning.
    [[nodiscard]] KnownSlopes* none() const { return none_; }

    /// What `activity` makes of slopes. `messages`: of the thread. Throws TooManySlopes.
    [[gnu::always_inline]] const SlopeStep& step(KnownSlopes& from, const Activity& activity, MessageCount& messages) {
        if (const SlopeStep* known = find_step(from, activity)) [[likely]] {
            return *known;
        }
        // Said again, so that it need not be in memory otherwise.
        return add_step(from,
                        {.doing = activity.doing,
                         .within_node = activity.within_node,
                         .size = activity.size,
                         .stands = activity.stands,
                         .stands_late = activity.stands_late},
                        messages);
    }

    /// Of two at one time.
    KnownSlopes* steepest(KnownSlopes& a, KnownSlopes& b);

  private:
    /// Slopes are found by what they are.
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Slopes<2>& slopes) const;
        std::size_t operator()(const KnownSlopes* known) const { return (*this)(known->slopes); }
    };
    struct Alike {
        using is_transparent = void;
        bool operator()(const KnownSlopes* a, const KnownSlopes* b) const { return (*this)(a->slopes, b); }
        bool operator()(const Slopes<2>& a, const KnownSlopes* b) const { return a.has_slopes_of(b->slopes); }
        bool operator()(const KnownSlopes* a, const Slopes<2>& b) const { return (*this)(b, a); }
    };

    [[gnu::always_inline]] static std::uint32_t traits_of(const Activity& activity) {
        return (activity.within_node ? 1U : 0U) | (activity.stands ? 2U : 0U) | (activity.stands_late ? 4U : 0U);
    }

    [[gnu::always_inline]] static const SlopeStep* find_step(const KnownSlopes& from, const Activity& activity) {
        const std::uint32_t traits = traits_of(activity);
        const SlopeStep* step = &from.steps[static_cast<std::size_t>(activity.doing)];
        while (step != nullptr &&
               (step->traits.load(std::memory_order_acquire) != traits || step->size != activity.size)) {
            step = step->next.load(std::memory_order_acquire);
        }
        return step;
    }
    static KnownSlopes* find_tie(const KnownSlopes& a, const KnownSlopes& b);

    /// What another thread has added in the meantime is not added again.
    [[gnu::noinline]] const SlopeStep& add_step(KnownSlopes& from, const Activity& activity, MessageCount& messages);
    KnownSlopes* known(const Slopes<2>& slopes);
    /// `steps`: of the list that is to grow. Throws TooManySlopes.
    void refuse_too_many(std::uint32_t steps, MessageCount& messages);

    /// An item that lasts as long as the table.
    template <class Item>
    Item* make() {
        static_assert(std::is_trivially_destructible_v<Item>);
        return std::pmr::polymorphic_allocator<>(&memory_).new_object<Item>();
    }

    std::mutex mutex_;                            ///< of all that follows
    std::pmr::monotonic_buffer_resource memory_;  ///< in few large pieces: what is looked up all the time lies close
    std::pmr::unordered_set<KnownSlopes*, Hash, Alike> found_{&memory_};
    std::size_t items_ = 0;  ///< steps and ties
    KnownSlopes* none_ = nullptr;
    bool crowded_ = false;                 ///< some list of ties is too long
    std::uint64_t messages_ = 0;           ///< of all threads
    std::size_t next_check_;               ///< with so many steps and ties
    std::uint64_t messages_at_check_ = 0;  ///< at the last one
};

}  // namespace idlewave
