#include "goal/rank_encoder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace idlewave::goal {

using namespace op_word;

namespace {

std::size_t hash(const Shape& shape) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
    const std::uint64_t rest = shape.tag | std::uint64_t{shape.cpu} << 32 | std::uint64_t{shape.nic} << 40 |
                               std::uint64_t{shape.one_sided} << 48;
    const std::uint64_t mixed = (shape.size * odd ^ rest) * odd;
    return mixed >> 32;
}

}  // namespace

std::span<const std::uint64_t> RankEncoder::encode(const RankSchedule& schedule) {
    const auto count = static_cast<OpIndex>(schedule.ops.size());
    words_.assign(RankBlock::header_words, 0);
    sort(schedule.requirements);
    find_requirements(schedule);
    put_ops(schedule);
    const std::uint64_t before_links = words_.size();
    put_links(count);
    const std::uint64_t link_words = words_.size() - before_links;
    put_labels(schedule.labels);
    const std::uint64_t label_words = words_.size() - before_links - link_words;
    const LabelKind labels = schedule.labels.kind();
    words_[0] =
        count | std::uint64_t{shapes_.size()} << 32 | static_cast<std::uint64_t>(labels) << RankBlock::label_kind_shift;
    words_[1] = link_words | label_words << 32;
    return words_;
}

/// Sorts the requirements by predecessor and edge; the successors of an op keep their order.
void RankEncoder::sort(const std::vector<Requirement>& requirements) {
    const auto before = [](const Requirement& a, const Requirement& b) {
        return std::pair(a.predecessor, a.edge) < std::pair(b.predecessor, b.edge);
    };
    sorted_ = requirements;
    if (!std::is_sorted(sorted_.begin(), sorted_.end(), before)) {
        std::stable_sort(sorted_.begin(), sorted_.end(), before);
    }
}

/// Finds the requirement kind of each op's word. The word can hold a requirement on the previous op only if this op is
/// the first successor of the previous one, since the order in which successors become ready must be kept.
void RankEncoder::find_requirements(const RankSchedule& schedule) {
    counts_.assign(schedule.ops.size(), 0);
    waits_.assign(schedule.ops.size(), RequirementKind::none);
    for (const Requirement& r : schedule.requirements) {
        ++counts_[r.successor];
    }
    std::size_t listed = 0;
    Requirement before{.predecessor = most_ops};
    for (const Requirement r : sorted_) {
        const bool first = r.predecessor != before.predecessor || r.edge != before.edge;
        if (first && r.successor == std::uint64_t{r.predecessor} + 1 && waits_[r.successor] == RequirementKind::none) {
            waits_[r.successor] = r.edge == Edge::end ? RequirementKind::previous_end : RequirementKind::previous_start;
        } else {
            sorted_[listed++] = r;
        }
        before = r;
    }
    sorted_.resize(listed);
    for (std::size_t op_index = 0; op_index < waits_.size(); ++op_index) {
        RequirementKind& w = waits_[op_index];
        if (counts_[op_index] > 1) {
            w = w == RequirementKind::none           ? RequirementKind::several
                : w == RequirementKind::previous_end ? RequirementKind::several_and_previous_end
                                                     : RequirementKind::several_and_previous_start;
        } else if (counts_[op_index] == 1 && w == RequirementKind::none) {
            w = RequirementKind::listed;
        }
    }
}

void RankEncoder::put_ops(const RankSchedule& schedule) {
    shapes_.clear();
    shape_table_.clear();
    // The shapes lie before the ops in the block, but are complete only when all ops have been seen.
    const std::size_t begin = words_.size();
    for (std::size_t op_index = 0; op_index < schedule.ops.size(); ++op_index) {
        words_.push_back(payload(schedule.ops[op_index]) | static_cast<std::uint64_t>(waits_[op_index])
                                                               << requirement_shift);
    }
    for (const Requirement& r : sorted_) {
        words_[begin + r.predecessor] |= r.edge == Edge::start ? lists_start : lists_end;
    }
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(begin), 2 * shapes_.size(), 0);
    if (!shapes_.empty()) {
        std::memcpy(words_.data() + begin, shapes_.data(), shapes_.size() * sizeof(Shape));
    }
}

std::uint64_t RankEncoder::payload(const Op& op) {
    if (op.kind != OpKind::calc) {
        const Kind kind = is_receiving(op.kind) ? Kind::recv : Kind::send;
        const std::uint16_t one_sided = is_one_sided(op.kind) ? static_cast<std::uint16_t>(op.kind) : std::uint16_t{0};
        const std::uint64_t shape =
            shape_of({.size = op.size, .tag = op.tag, .cpu = op.cpu, .nic = op.nic, .one_sided = one_sided});
        return static_cast<std::uint64_t>(kind) | shape << payload_shift | std::uint64_t{op.peer} << peer_shift;
    }
    if (op.size <= longest_calc) {
        return static_cast<std::uint64_t>(Kind::calc) | std::uint64_t{op.cpu} << payload_shift | op.size << size_shift;
    }
    return static_cast<std::uint64_t>(Kind::long_calc) | shape_of({.size = op.size, .cpu = op.cpu}) << payload_shift;
}

/// The index of a shape. Most ranks have few shapes, for which a linear search is fastest.
std::uint64_t RankEncoder::shape_of(const Shape& shape) {
    constexpr std::size_t few = 8;
    if (shapes_.size() <= few) {
        for (std::size_t i = shapes_.size(); i-- > 0;) {
            if (shapes_[i] == shape) {
                return i;
            }
        }
    }
    if (shapes_.size() == most_shapes - 1) {
        throw InputError("one rank has more than 33 million different messages (by size, tag, CPU and NIC)");
    }
    if (shapes_.size() < few) {
        shapes_.push_back(shape);
        return shapes_.size() - 1;
    }
    if (2 * (shapes_.size() + 1) > shape_table_.size()) {
        grow_shape_table();
    }
    const std::size_t mask = shape_table_.size() - 1;
    std::size_t at = hash(shape) & mask;
    for (; shape_table_[at] != 0; at = (at + 1) & mask) {
        if (shapes_[shape_table_[at] - 1] == shape) {
            return shape_table_[at] - 1;
        }
    }
    shapes_.push_back(shape);
    shape_table_[at] = static_cast<std::uint32_t>(shapes_.size());
    return shapes_.size() - 1;
}

void RankEncoder::grow_shape_table() {
    shape_table_.assign(std::max<std::size_t>(64, 2 * shape_table_.size()), 0);
    const std::size_t mask = shape_table_.size() - 1;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
        std::size_t at = hash(shapes_[i]) & mask;
        while (shape_table_[at] != 0) {
            at = (at + 1) & mask;
        }
        shape_table_[at] = static_cast<std::uint32_t>(i + 1);
    }
}

/// Appends the index and then the stream of links; nothing if no op has any.
void RankEncoder::put_links(OpIndex count) {
    index_.clear();
    stream_.clear();
    auto next = sorted_.begin();
    for (OpIndex op_index = 0; op_index < count; ++op_index) {
        if (op_index % RankBlock::group == 0) {
            if (stream_.size() > 0xffffffff) {
                throw InputError("the dependencies of one rank take more than 4 GB");
            }
            index_.push_back(static_cast<std::uint32_t>(stream_.size()));
        }
        if (counts_[op_index] > 1) {
            put_varint(stream_, counts_[op_index] - 2);
        }
        for (; next != sorted_.end() && next->predecessor == op_index; ++next) {
            const bool more = next + 1 != sorted_.end() && (next + 1)->predecessor == op_index;
            const std::int64_t distance = std::int64_t{next->successor} - std::int64_t{op_index};
            put_varint(stream_, zigzag(distance) << 2 | static_cast<std::uint64_t>(next->edge) << 1 | (more ? 1 : 0));
        }
    }
    if (!stream_.empty()) {
        append(std::as_bytes(std::span(index_)), std::as_bytes(std::span(stream_)));
    }
}

void RankEncoder::put_labels(const Labels& labels) {
    if (labels.kind() == LabelKind::text) {
        append(std::as_bytes(std::span(labels.begins())), std::as_bytes(std::span(labels.text())));
    }
}

/// Appends both, padded with zeros to whole words.
void RankEncoder::append(std::span<const std::byte> first, std::span<const std::byte> second) {
    const std::size_t begin = words_.size();
    words_.resize(begin + (first.size() + second.size() + 7) / 8, 0);
    auto* to = reinterpret_cast<std::byte*>(words_.data() + begin);
    std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), to));
}

}  // namespace idlewave::goal
