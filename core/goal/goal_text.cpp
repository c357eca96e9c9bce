#include "goal/goal_text.hpp"

#include <algorithm>

namespace idlewave::goal {

bool GoalText::more(const char* keep_from) {
    constexpr std::size_t first_piece = std::size_t{1} << 14;
    constexpr std::size_t largest_piece = std::size_t{1} << 18;
    if (file_ == nullptr) {
        return false;
    }
    const std::size_t piece = std::clamp(2 * buffer_.size(), first_piece, largest_piece);
    const auto remaining = static_cast<std::size_t>(end_ - keep_from);
    passed_ += static_cast<std::uint64_t>(keep_from - begin_);
    std::copy(keep_from, end_, buffer_.data());
    buffer_.resize(std::max(remaining + piece, buffer_.size()));
    const std::size_t got = file_->read(std::as_writable_bytes(std::span(buffer_).subspan(remaining, piece)));
    begin_ = buffer_.data();
    end_ = begin_ + remaining + got;
    return got > 0;
}

}  // namespace idlewave::goal
