#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "goal/op.hpp"

namespace idlewave::goal {

/// The words of GOAL text for the kinds of ops, by OpKind.
inline constexpr std::array<std::string_view, 9> op_words{"send",  "recv", "calc",        "put",   "get",
                                                          "await", "lock", "shared_lock", "unlock"};

constexpr std::string_view word_of(OpKind kind) {
    return op_words[static_cast<std::size_t>(kind)];
}

constexpr std::optional<OpKind> op_kind_of(std::string_view word) {
    for (std::size_t i = 0; i < op_words.size(); ++i) {
        if (op_words[i] == word) {
            return static_cast<OpKind>(i);
        }
    }
    return std::nullopt;
}

}  // namespace idlewave::goal
