#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "goal/op.hpp"

namespace idlewave::goal {

/// The kind of labels that a rank's ops have.
enum class LabelKind : std::uint8_t {
    none,      ///< no labels
    numbered,  ///< op i has the label l<i+1>, as tools write it; takes no memory
    text,      ///< other labels, which are stored
    unknown    ///< only in a damaged file
};

/// The label of an op if labels are numbered.
std::string numbered_label(OpIndex op_index);

/// The labels of one rank's ops, in order. "" means no label.
class Labels {
  public:
    /// Adds the label of the next op.
    void add(std::string_view label);

    void clear();

    [[nodiscard]] LabelKind kind() const;
    [[nodiscard]] OpIndex size() const { return size_; }
    [[nodiscard]] std::string at(OpIndex op_index) const;

    /// Of kind `text`: all labels, one directly after the other, and their begins; there is one more begin than ops.
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<std::uint32_t>& begins() const { return begins_; }

  private:
    void spell_out();

    LabelKind kind_ = LabelKind::none;
    OpIndex size_ = 0;
    std::string text_;
    std::vector<std::uint32_t> begins_;
};

}  // namespace idlewave::goal
