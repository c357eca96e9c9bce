#pragma once

#include <cstdint>
#include <utility>

#include "base/inline_vector.hpp"

namespace idlewave {

/// Values that are known by a small number while they live; numbers are used again.
template <class T, std::uint32_t capacity_inside>
class Slots {
  public:
    std::uint32_t add(const T& value) {
        if (first_unused_ == none) {
            entries_.push_back({value, used});
            return entries_.size() - 1;
        }
        const std::uint32_t handle = first_unused_;
        first_unused_ = entries_[handle].next_unused;
        entries_[handle] = {value, used};
        return handle;
    }

    T& operator[](std::uint32_t handle) { return entries_[handle].value; }
    const T& operator[](std::uint32_t handle) const { return entries_[handle].value; }

    void remove(std::uint32_t handle) {
        entries_[handle].next_unused = first_unused_;
        first_unused_ = handle;
    }

    /// Calls `visit` with every value that lives, in the order of their numbers.
    template <class Visit>
    void each(Visit visit) const {
        for (const Entry& entry : entries_) {
            if (entry.next_unused == used) {
                visit(entry.value);
            }
        }
    }

  private:
    static constexpr std::uint32_t none = 0xffffffff;
    static constexpr std::uint32_t used = 0xfffffffe;

    struct Entry {
        T value;
        std::uint32_t next_unused = used;
    };

    std::uint32_t first_unused_ = none;
    InlineVector<Entry, capacity_inside> entries_;
};

}  // namespace idlewave
