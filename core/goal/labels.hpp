#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "goal/op.hpp"

namespace idlewave {

/// How the ops of a rank are labelled.
enum class LabelKind : std::uint8_t {
    none,      ///< not at all
    numbered,  ///< the op at place i is l<i+1>, as tools write them; costs nothing
    text,      ///< as somebody wrote them
    unknown    ///< in a damaged file
};

/// The label of the op at `place` where they are numbered.
std::string numbered_label(Place place);

/// The labels of one rank's ops, in order. "" is no label.
class Labels {
  public:
    /// Adds the next op's.
    void add(std::string_view label);

    void clear();

    [[nodiscard]] LabelKind kind() const;
    [[nodiscard]] Place size() const { return size_; }
    [[nodiscard]] std::string at(Place place) const;

    /// Of kind `text`: all labels without anything between them, and where each begins; one entry more than ops.
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<std::uint32_t>& begins() const { return begins_; }

  private:
    void spell_out();

    LabelKind kind_ = LabelKind::none;
    Place size_ = 0;
    std::string text_;
    std::vector<std::uint32_t> begins_;
};

}  // namespace idlewave
