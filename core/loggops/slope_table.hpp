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

namespace idlewave::loggops {

class SlopeTable;
struct InternedSlopes;

/// A run has too many different slopes for a table. It must be simulated with `Differentiation`.
class TooManySlopes : public std::exception {
  public:
    [[nodiscard]] const char* what() const noexcept override { return "a run has too many different slopes to share"; }
};

/// The slopes that follow from one activity and the slopes at its beginning, in one cache line.
struct alignas(64) SlopeStep {
    static constexpr std::uint32_t not_made = 0xffffffff;
    static constexpr std::uint32_t no_code = 0xffffffff;
    static constexpr std::uint32_t never_a_code = 0xffff0000;  ///< all codes are in use

    /// The flags of the activity that its slopes depend on. Written last: then the other fields do not change any more.
    std::atomic<std::uint32_t> traits = not_made;
    std::uint32_t number = 0;  ///< of the step in its list, in order of creation
    std::uint64_t amount = 0;  ///< of the Activity
    /// The slopes of the times at which the CPU is free, the NIC's side is free, the message arrives or its last byte
    /// has arrived, and the send ends.
    InternedSlopes* cpu = nullptr;
    InternedSlopes* nic = nullptr;
    InternedSlopes* message = nullptr;
    InternedSlopes* completion = nullptr;
    std::atomic<const SlopeStep*> next = nullptr;
    /// Of the messages that the step sends: a message class (high half), and the code of those with that class.
    mutable std::atomic<std::uint32_t> code = no_code;
};

/// The steepest slopes of these and others that were reached at one time.
struct SlopeTie {
    InternedSlopes* other = nullptr;
    InternedSlopes* steepest = nullptr;
    const SlopeTie* next = nullptr;
    std::uint32_t number = 0;  ///< of the tie in its list, in order of creation
};

/// An entry of the table: slopes, and the steps and ties that begin with them, in lists that grow while others read.
struct InternedSlopes {
    std::array<SlopeStep, 4> steps = {};  ///< by kind of activity, the first of each list
    std::atomic<const SlopeTie*> ties = nullptr;
    SlopeTable* table = nullptr;  ///< the table of this entry
    AllSlopes slopes;             ///< without a time
};

/// An intern table: the slopes that occur in a run, each once, for all threads. Most ranks do what others did before,
/// so one comparison finds the slopes of a moment, where adding them up takes a hundred instructions.
class SlopeTable {
  public:
    /// `with_c`: whether a send may end later than its CPU is free.
    explicit SlopeTable(bool with_c);

    /// The slopes of the beginning of the simulation.
    [[nodiscard]] InternedSlopes* zero() const { return zero_; }

    /// The slopes that follow from `activity` when it begins with slopes `from`. `messages` counts those of the thread.
    /// Throws TooManySlopes.
    [[gnu::always_inline]] const SlopeStep& step(InternedSlopes& from, const Activity& activity,
                                                 MessageCount& messages) {
        if (const SlopeStep* known = find_step(from, activity)) [[likely]] {
            return *known;
        }
        // Built anew: passing `activity` on would force the caller to keep it in memory.
        return add_step(from,
                        {.kind = activity.kind,
                         .level = activity.level,
                         .amount = activity.amount,
                         .in_detour = activity.in_detour,
                         .bytes_in_detour = activity.bytes_in_detour},
                        messages);
    }

    /// The steepest slopes of two at one time.
    InternedSlopes* steepest(InternedSlopes& a, InternedSlopes& b);

  private:
    /// Entries are found by the value of their slopes.
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const AllSlopes& slopes) const;
        std::size_t operator()(const InternedSlopes* interned) const { return (*this)(interned->slopes); }
    };
    struct Alike {
        using is_transparent = void;
        bool operator()(const InternedSlopes* a, const InternedSlopes* b) const { return (*this)(a->slopes, b); }
        bool operator()(const AllSlopes& a, const InternedSlopes* b) const { return a.has_slopes_of(b->slopes); }
        bool operator()(const InternedSlopes* a, const AllSlopes& b) const { return (*this)(b, a); }
    };

    [[gnu::always_inline]] static std::uint32_t traits_of(const Activity& activity) {
        return static_cast<std::uint32_t>(activity.level) << 2U | (activity.in_detour ? 1U : 0U) |
               (activity.bytes_in_detour ? 2U : 0U);
    }

    [[gnu::always_inline]] static const SlopeStep* find_step(const InternedSlopes& from, const Activity& activity) {
        const std::uint32_t traits = traits_of(activity);
        const SlopeStep* step = &from.steps[static_cast<std::size_t>(activity.kind)];
        while (step != nullptr &&
               (step->traits.load(std::memory_order_acquire) != traits || step->amount != activity.amount)) {
            step = step->next.load(std::memory_order_acquire);
        }
        return step;
    }
    static InternedSlopes* find_tie(const InternedSlopes& a, const InternedSlopes& b);

    /// Looks the step up again under the lock: another thread may have added it.
    [[gnu::noinline]] const SlopeStep& add_step(InternedSlopes& from, const Activity& activity, MessageCount& messages);
    InternedSlopes* intern(const AllSlopes& slopes);
    /// `steps` is the length of the list that is to grow. Throws TooManySlopes.
    void refuse_too_many(std::uint32_t steps, MessageCount& messages);

    /// An item that lives as long as the table.
    template <class Item>
    Item* make() {
        static_assert(std::is_trivially_destructible_v<Item>);
        return std::pmr::polymorphic_allocator<>(&memory_).new_object<Item>();
    }

    bool with_c_;
    std::mutex mutex_;                            ///< protects all members below
    std::pmr::monotonic_buffer_resource memory_;  ///< few large pieces keep entries close together
    std::pmr::unordered_set<InternedSlopes*, Hash, Alike> found_{&memory_};
    std::size_t items_ = 0;  ///< steps and ties
    InternedSlopes* zero_ = nullptr;
    bool tie_list_full_ = false;           ///< some list of ties is too long
    std::uint64_t messages_ = 0;           ///< sent by all threads
    std::size_t next_check_;               ///< number of items at which the next check is due
    std::uint64_t messages_at_check_ = 0;  ///< `messages_` at the last check
};

}  // namespace idlewave::loggops
