#include "goal/label_table.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

namespace idlewave::goal {

void LabelTable::added() {
    if (labels_->kind() == LabelKind::text) {
        while (inserted_ < labels_->size()) {
            insert(inserted_++);
        }
    }
}

std::optional<OpIndex> LabelTable::find(std::string_view label) const {
    if (labels_->kind() == LabelKind::text) {
        const std::uint32_t found = slots_.empty() ? 0 : slots_[slot_of(label)];
        return found == 0 ? std::nullopt : std::optional(found - 1);
    }
    std::uint64_t number = 0;
    const char* end = label.data() + label.size();
    const bool numbered = labels_->kind() == LabelKind::numbered && label.size() > 1 && label[0] == 'l' &&
                          label[1] != '0' && std::from_chars(label.data() + 1, end, number).ptr == end;
    if (!numbered || number == 0 || number > labels_->size()) {
        return std::nullopt;
    }
    return static_cast<OpIndex>(number - 1);
}

void LabelTable::begin(const Labels& labels) {
    labels_ = &labels;
    inserted_ = 0;
    used_ = 0;
    slots_.clear();
}

void LabelTable::insert(OpIndex op_index) {
    const std::string_view label = text(op_index);
    if (label.empty()) {
        return;
    }
    if (2 * (used_ + 1) > slots_.size()) {
        grow();
    }
    std::uint32_t& slot = slots_[slot_of(label)];
    if (slot == 0) {
        slot = op_index + 1;
        ++used_;
    }
}

void LabelTable::grow() {
    const std::vector<std::uint32_t> old = std::move(slots_);
    slots_.assign(std::max<std::size_t>(64, 2 * old.size()), 0);
    for (const std::uint32_t entry : old) {
        if (entry != 0) {
            slots_[slot_of(text(entry - 1))] = entry;
        }
    }
}

/// The slot of `label`, or the free slot for it.
std::size_t LabelTable::slot_of(std::string_view label) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = std::hash<std::string_view>{}(label)&mask;
    while (slots_[slot] != 0 && text(slots_[slot] - 1) != label) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

std::string_view LabelTable::text(OpIndex op_index) const {
    const std::uint32_t begin = labels_->begins()[op_index];
    return std::string_view(labels_->text()).substr(begin, labels_->begins()[op_index + 1] - begin);
}

}  // namespace idlewave::goal
