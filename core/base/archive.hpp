#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace idlewave {

/// Puts values one behind the other. What is to be kept has one function for both ways, which shows each of its parts
/// to an archive: this one, or an Unpacker.
class Packer {
  public:
    static constexpr bool loads = false;

    explicit Packer(std::vector<std::byte>& bytes) : bytes_(bytes) {}

    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::size_t end = bytes_.size();
        bytes_.resize(end + sizeof value);
        std::memcpy(bytes_.data() + end, &value, sizeof value);
    }

  private:
    std::vector<std::byte>& bytes_;
};

/// Takes values in the same order. Throws InputError where there are none left.
class Unpacker {
  public:
    static constexpr bool loads = true;

    explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(static_cast<void*>(&value), take(sizeof value), sizeof value);
    }
    template <class T>
    T next() {
        T value{};
        (*this)(value);
        return value;
    }

    /// The next `count` bytes.
    Unpacker part(std::size_t count) { return Unpacker({take(count), count}); }

    [[nodiscard]] bool done() const { return bytes_.empty(); }

  private:
    const std::byte* take(std::size_t count) {
        if (count > bytes_.size()) {
            throw InputError("what was kept of a run ends too early: " + std::to_string(count) +
                             " bytes were expected, and there are " + std::to_string(bytes_.size()));
        }
        const std::byte* taken = bytes_.data();
        bytes_ = bytes_.subspan(count);
        return taken;
    }

    std::span<const std::byte> bytes_;
};

}  // namespace idlewave
