#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace idlewave {

/// An archive that writes values into bytes, one after the other. A type that a checkpoint holds has one function
/// template `serialise(archive)` for writing and reading; the function passes each member to the archive, which is a
/// Serialiser or a Deserialiser. Of an empty type nothing is written: its one byte may be that of another member.
class Serialiser {
  public:
    static constexpr bool is_loading = false;

    explicit Serialiser(std::vector<std::byte>& bytes) : bytes_(bytes) {}

    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        if constexpr (!std::is_empty_v<T>) {
            const std::size_t end = bytes_.size();
            bytes_.resize(end + sizeof value);
            std::memcpy(bytes_.data() + end, &value, sizeof value);
        }
    }

  private:
    std::vector<std::byte>& bytes_;
};

/// An archive that reads the values in the same order. Throws InputError when the bytes end too early.
class Deserialiser {
  public:
    static constexpr bool is_loading = true;

    explicit Deserialiser(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        if constexpr (!std::is_empty_v<T>) {
            std::memcpy(static_cast<void*>(&value), take(sizeof value), sizeof value);
        }
    }
    template <class T>
    T next() {
        T value{};
        (*this)(value);
        return value;
    }

    /// A Deserialiser of the next `count` bytes.
    Deserialiser part(std::size_t count) { return Deserialiser({take(count), count}); }

    [[nodiscard]] bool done() const { return bytes_.empty(); }

  private:
    const std::byte* take(std::size_t count) {
        if (count > bytes_.size()) {
            throw InputError("a checkpoint or a rank's serialised state ends too early: " + std::to_string(count) +
                             " bytes were expected, and there are " + std::to_string(bytes_.size()));
        }
        const std::byte* taken = bytes_.data();
        bytes_ = bytes_.subspan(count);
        return taken;
    }

    std::span<const std::byte> bytes_;
};

}  // namespace idlewave
