#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
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

/// What an activity makes of the slopes with which it begins.
struct SlopeStep {
    std::uint64_t size = 0;    ///< as of the Activity
    std::uint32_t traits = 0;  ///< what else of it counts
    std::uint32_t number = 0;  ///< how many steps of its list were made before it
    /// Where the CPU is free; the NIC's side; and the message, at its arrival or when its last byte is here.
    KnownSlopes* cpu = nullptr;
    KnownSlopes* nic = nullptr;
    KnownSlopes* message = nullptr;
    const SlopeStep* next = nullptr;
};

/// Slopes that came together with others, at one time.
struct SlopeTie {
    KnownSlopes* other = nullptr;
    KnownSlopes* steepest = nullptr;
    const SlopeTie* next = nullptr;
    std::uint32_t number = 0;  ///< how many ties of its list were made before it
};

/// Slopes, and what is known to become of them. All but the slopes grows while others read: lists grow at their heads.
struct alignas(64) KnownSlopes {
    static constexpr std::uint32_t no_code = 0xffffffff;
    static constexpr std::uint32_t never_a_code = 0xffff0000;  ///< there are no more

    std::array<std::atomic<const SlopeStep*>, 3> steps = {};  ///< by what is done
    std::atomic<const SlopeTie*> ties = nullptr;
    /// Of the messages that carry these slopes: a message_class (high half) and the code of those that are of it.
    std::atomic<std::uint32_t> code = no_code;
    std::uint32_t number = 0;     ///< how many different slopes were there before
    SlopeTable* table = nullptr;  ///< where it lies, for who knows nothing else
    Slopes<2> slopes;             ///< without a time
};

/// The slopes that occur in a run, each once, for all threads. Most ranks do what others did before, so that a
/// moment's slopes are found by one comparison where adding them up takes a hundred instructions.
class SlopeTable {
  public:
    SlopeTable();

    /// Of the beginning; the first of all.
    [[nodiscard]] KnownSlopes* none() const { return none_; }
    /// All, by number. Not while a simulation runs.
    [[nodiscard]] const std::deque<KnownSlopes>& all() const { return known_; }

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
    struct Hash {
        std::size_t operator()(const KnownSlopes* known) const;
    };
    struct Alike {
        bool operator()(const KnownSlopes* a, const KnownSlopes* b) const { return a->slopes.has_slopes_of(b->slopes); }
    };

    [[gnu::always_inline]] static std::uint32_t traits_of(const Activity& activity) {
        return (activity.within_node ? 1U : 0U) | (activity.stands ? 2U : 0U) | (activity.stands_late ? 4U : 0U);
    }

    [[gnu::always_inline]] static const SlopeStep* find_step(const KnownSlopes& from, const Activity& activity) {
        const std::uint32_t traits = traits_of(activity);
        const SlopeStep* step = from.steps[static_cast<std::size_t>(activity.doing)].load(std::memory_order_acquire);
        while (step != nullptr && (step->size != activity.size || step->traits != traits)) {
            step = step->next;
        }
        return step;
    }
    static KnownSlopes* find_tie(const KnownSlopes& a, const KnownSlopes& b);

    /// What another thread has added in the meantime is not added again.
    [[gnu::noinline]] const SlopeStep& add_step(KnownSlopes& from, const Activity& activity, MessageCount& messages);
    KnownSlopes* known(const Slopes<2>& slopes);
    /// Throws TooManySlopes.
    void refuse_too_many(const SlopeStep* list, MessageCount& messages);

    std::mutex mutex_;  ///< of all that follows
    std::deque<KnownSlopes> known_;
    std::unordered_set<KnownSlopes*, Hash, Alike> found_;
    std::deque<SlopeStep> steps_;
    std::deque<SlopeTie> ties_;
    KnownSlopes* none_ = nullptr;
    bool crowded_ = false;                 ///< some list of ties is too long
    std::uint64_t messages_ = 0;           ///< of all threads
    std::size_t next_check_;               ///< with so many steps and ties
    std::uint64_t messages_at_check_ = 0;  ///< at the last one
};

}  // namespace idlewave
