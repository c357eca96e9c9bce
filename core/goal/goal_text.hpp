#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/input_file.hpp"

namespace idlewave::goal {

/// A window over a text: over all of a text in memory, or over a file piece by piece.
class GoalText {
  public:
    /// The text must outlive the window.
    explicit GoalText(std::string_view text) : begin_(text.data()), end_(text.data() + text.size()) {}
    explicit GoalText(InputFile& file) : file_(&file) {}

    [[nodiscard]] const char* begin() const { return begin_; }
    [[nodiscard]] const char* end() const { return end_; }

    /// The number of bytes of the text before the window.
    [[nodiscard]] std::uint64_t passed() const { return passed_; }

    /// Moves the window, so that it begins at `keep_from`, which must lie in it, and contains further text at its end.
    /// False if there is no further text.
    bool more(const char* keep_from);

  private:
    const char* begin_ = nullptr;
    const char* end_ = nullptr;
    InputFile* file_ = nullptr;
    std::vector<char> buffer_;
    std::uint64_t passed_ = 0;
};

}  // namespace idlewave::goal
