#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/huge_memory.hpp"

namespace idlewave::pdes {

/// An LP: the model's state, and what the scheduler keeps of it.
template <class State>
struct Lp {
    static constexpr std::uint32_t no_timer = 0xffffffff;

    State state;
    std::uint32_t sequence = 0;      ///< events sent so far
    std::uint32_t timer = no_timer;  ///< the cell in which it continues by itself

    /// Returns whether a timer has to be set for `cell`: not if an earlier one is set.
    bool needs_timer(std::int64_t cell) {
        if (cell < timer) {
            timer = static_cast<std::uint32_t>(cell);
            return true;
        }
        return timer == no_timer;
    }

    /// The LP is executed up to the beginning of `cell`: a timer that is set for an earlier cell has gone off.
    void clear_timer_before(std::int64_t cell) {
        if (timer < cell) {
            timer = no_timer;
        }
    }
};

/// The LPs of a thread or process. The thread that uses an LP first makes it, which decides on which NUMA node it lies.
template <class State>
class Lps {
  public:
    explicit Lps(std::uint32_t count) : memory_(huge_memory(count * sizeof(Lp<State>))), count_(count) {}

    Lps(const Lps&) = delete;
    Lps& operator=(const Lps&) = delete;
    Lps(Lps&&) = delete;
    Lps& operator=(Lps&&) = delete;

    ~Lps() {
        if constexpr (!std::is_trivially_destructible_v<State>) {
            for (std::uint32_t i = 0; i < count_; ++i) {
                if (made_[i]) {
                    std::destroy_at(&(*this)[i]);
                }
            }
        }
    }

    [[nodiscard]] std::uint32_t size() const { return count_; }

    /// Makes the LP `i`, once, before it is used.
    Lp<State>& make(std::uint32_t i) {
        if constexpr (!std::is_trivially_destructible_v<State>) {
            made_[i] = true;
        }
        return *std::construct_at(data() + i);
    }

    Lp<State>& operator[](std::uint32_t i) { return data()[i]; }
    const Lp<State>& operator[](std::uint32_t i) const { return reinterpret_cast<const Lp<State>*>(memory_.get())[i]; }

  private:
    Lp<State>* data() { return reinterpret_cast<Lp<State>*>(memory_.get()); }

    HugeMemory memory_;
    std::uint32_t count_;
    /// After a failure only some of them were made.
    std::unique_ptr<bool[]> made_ = std::make_unique<bool[]>(std::is_trivially_destructible_v<State> ? 0 : count_);
};

}  // namespace idlewave::pdes
