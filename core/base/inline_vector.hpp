#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace idlewave {

/// A vector whose first `capacity_inside` values lie in the object itself. A simulated rank has few ops, slots and
/// requests, which then lie together in memory. For trivially destructible types only.
template <class T, std::uint32_t capacity_inside>
class InlineVector {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    InlineVector() { data_ = inside_.data(); }
    InlineVector(const InlineVector&) = delete;
    InlineVector& operator=(const InlineVector&) = delete;
    InlineVector(InlineVector&&) = delete;
    InlineVector& operator=(InlineVector&&) = delete;
    ~InlineVector() = default;

    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    [[nodiscard]] const T* begin() const { return data_; }
    [[nodiscard]] const T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T& back() { return data_[size_ - 1]; }

    /// (Always inline: a value that was just written member by member is then copied so. A copy of the whole in a
    /// function would stall on store forwarding, and make an alltoall 2 % slower.)
    [[gnu::always_inline]] void push_back(const T& value) {
        if (size_ == capacity_) [[unlikely]] {
            grow_and_push_back(value);
            return;
        }
        data_[size_++] = value;
    }

    /// Adds a value that is not initialised; the caller assigns every member in place.
    [[gnu::always_inline]] T& add() {
        if (size_ == capacity_) [[unlikely]] {
            grow();
        }
        return data_[size_++];
    }

    void pop_back() { --size_; }
    void clear() { size_ = 0; }

    void assign(std::uint32_t count, const T& value) {
        clear();
        for (std::uint32_t i = 0; i < count; ++i) {
            push_back(value);
        }
    }

    /// Removes the value at `i`; the others keep their order.
    void erase(std::uint32_t i) {
        std::copy(begin() + i + 1, end(), begin() + i);
        --size_;
    }

  private:
    [[gnu::noinline]] void grow_and_push_back(const T& value) {
        const std::unique_ptr<T[]> before = grow();  // `value` may lie in it
        data_[size_++] = value;
    }

    /// Doubles the capacity. Returns the memory that held the values, if it was outside the object.
    [[gnu::noinline]] std::unique_ptr<T[]> grow() {
        const std::uint32_t larger = 2 * capacity_;
        auto values = std::make_unique<T[]>(larger);
        std::copy(begin(), end(), values.get());
        outside_.swap(values);
        data_ = outside_.get();
        capacity_ = larger;
        return values;
    }

    T* data_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = capacity_inside;
    std::array<T, capacity_inside> inside_;
    std::unique_ptr<T[]> outside_;
};

}  // namespace idlewave
