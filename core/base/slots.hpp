#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace idlewave {

/// Values that are known by a small number while they live; numbers are used again.
template <class T>
class Slots {
  public:
    std::uint32_t add(T value) {
        if (unused_.empty()) {
            values_.push_back(std::move(value));
            used_.push_back(true);
            return static_cast<std::uint32_t>(values_.size() - 1);
        }
        const std::uint32_t handle = unused_.back();
        unused_.pop_back();
        values_[handle] = std::move(value);
        used_[handle] = true;
        return handle;
    }

    T& operator[](std::uint32_t handle) { return values_[handle]; }
    const T& operator[](std::uint32_t handle) const { return values_[handle]; }

    void remove(std::uint32_t handle) {
        used_[handle] = false;
        unused_.push_back(handle);
    }

    /// Calls `visit` with every value that lives, in the order of their numbers.
    template <class Visit>
    void each(Visit visit) const {
        for (std::uint32_t handle = 0; handle < values_.size(); ++handle) {
            if (used_[handle]) {
                visit(values_[handle]);
            }
        }
    }

  private:
    std::vector<T> values_;
    std::vector<bool> used_;
    std::vector<std::uint32_t> unused_;
};

}  // namespace idlewave
