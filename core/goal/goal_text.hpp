#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/input_file.hpp"

namespace idlewave {

/// A window over a text: all of it, or of a file a piece at a time.
class GoalText {
  public:
    /// The text must live as long.
    explicit GoalText(std::string_view text) : begin_(text.data()), end_(text.data() + text.size()) {}
    explicit GoalText(InputFile& file) : file_(&file) {}

    [[nodiscard]] const char* begin() const { return begin_; }
    [[nodiscard]] const char* end() const { return end_; }

    /// How many bytes of the text lie before the window.
    [[nodiscard]] std::uint64_t passed() const { return passed_; }

    /// Moves the window: it then begins at `keep_from`, which lies in it, and has more behind its end. False if the
    /// text has ended.
    bool more(const char* keep_from);

  private:
    const char* begin_ = nullptr;
    const char* end_ = nullptr;
    InputFile* file_ = nullptr;
    std::vector<char> buffer_;
    std::uint64_t passed_ = 0;
};

}  // namespace idlewave
