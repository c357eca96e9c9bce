#include "goal/labels.hpp"

#include <array>
#include <charconv>

#include "base/error.hpp"

namespace idlewave::goal {
namespace {

bool is_numbered(std::string_view label, OpIndex op_index) {
    std::array<char, 12> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), std::uint64_t{op_index} + 1);
    return !label.empty() && label[0] == 'l' &&
           label.substr(1) == std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

}  // namespace

std::string numbered_label(OpIndex op_index) {
    std::string label(1, 'l');
    label += std::to_string(std::uint64_t{op_index} + 1);
    return label;
}

void Labels::add(std::string_view label) {
    if (kind_ != LabelKind::text) {
        const LabelKind fits = label.empty()               ? LabelKind::none
                               : is_numbered(label, size_) ? LabelKind::numbered
                                                           : LabelKind::text;
        if (fits == kind_ || (size_ == 0 && fits != LabelKind::text)) {
            kind_ = fits;
            ++size_;
            return;
        }
        spell_out();
    }
    if (text_.size() + label.size() > 0xfffffff0) {
        throw InputError("the labels of one rank take more than 4 GB");
    }
    text_.append(label);
    begins_.push_back(static_cast<std::uint32_t>(text_.size()));
    ++size_;
}

void Labels::clear() {
    kind_ = LabelKind::none;
    size_ = 0;
    text_.clear();
    begins_.clear();
}

LabelKind Labels::kind() const {
    return kind_;
}

std::string Labels::at(OpIndex op_index) const {
    switch (kind_) {
        case LabelKind::none:
            return {};
        case LabelKind::numbered:
            return numbered_label(op_index);
        case LabelKind::text:
        case LabelKind::unknown:
            break;
    }
    return text_.substr(begins_[op_index], begins_[op_index + 1] - begins_[op_index]);
}

/// Changes the kind to `text`: stores the labels so far, which followed a rule.
void Labels::spell_out() {
    begins_.assign(1, 0);
    for (OpIndex op_index = 0; op_index < size_; ++op_index) {
        text_ += at(op_index);
        begins_.push_back(static_cast<std::uint32_t>(text_.size()));
    }
    kind_ = LabelKind::text;
}

}  // namespace idlewave::goal
