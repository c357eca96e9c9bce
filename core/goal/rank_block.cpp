#include "goal/rank_block.hpp"

#include <algorithm>
#include <cstring>

namespace idlewave::goal {

using namespace op_word;

RankBlock::Sizes RankBlock::sizes(const std::uint64_t* header) {
    return {.ops = header[0] & 0xffffffff,
            .shapes = (header[0] >> 32) & (most_shapes - 1),
            .labels = static_cast<LabelKind>(header[0] >> label_kind_shift),
            .link_words = header[1] & 0xffffffff,
            .label_words = header[1] >> 32};
}

bool RankBlock::differs_in_values_only(std::span<const std::uint64_t> words) const {
    const Sizes own = sizes(words_);
    const std::uint64_t ops_begin = header_words + 2 * own.shapes;
    const auto same = [&](std::uint64_t begin, std::uint64_t end) {
        return std::equal(words_ + begin, words_ + end, words.begin() + static_cast<std::ptrdiff_t>(begin));
    };
    if (!same(0, header_words) || !same(header_words, ops_begin) || !same(ops_begin + own.ops, own.words())) {
        return false;
    }
    constexpr std::uint64_t without_peer = (std::uint64_t{1} << peer_shift) - 1;
    constexpr std::uint64_t without_size = (std::uint64_t{1} << size_shift) - 1;
    for (std::uint64_t at = ops_begin; at < ops_begin + own.ops; ++at) {
        const bool calc = op_word::kind(words_[at]) == Kind::calc;
        if (((words_[at] ^ words[at]) & (calc ? without_size : without_peer)) != 0 ||
            (calc && words[at] >> size_shift > largest_value)) {
            return false;
        }
    }
    return true;
}

std::string RankBlock::label(OpIndex op_index) const {
    const Sizes s = sizes(words_);
    if (s.labels != LabelKind::text) {
        return s.labels == LabelKind::numbered ? numbered_label(op_index) : std::string();
    }
    const auto* begins = reinterpret_cast<const char*>(op_words_ + size_ + s.link_words);
    std::uint32_t range[2];
    std::memcpy(range, begins + sizeof(std::uint32_t) * std::uint64_t{op_index}, sizeof range);
    const char* text = begins + sizeof(std::uint32_t) * (std::uint64_t{size()} + 1);
    return {text + range[0], range[1] - range[0]};
}

RankBlock::Limits RankBlock::limits() const {
    Limits found;
    const std::uint64_t shapes = sizes(words_).shapes;
    for (std::uint64_t i = 0; i < shapes; ++i) {
        found.cpu = std::max(found.cpu, shape(i).cpu);
        found.nic = std::max(found.nic, shape(i).nic);
        found.one_sided |= shape(i).one_sided != 0;
    }
    for (OpIndex op_index = 0; op_index < size(); ++op_index) {
        const std::uint64_t w = word(op_index);
        const std::uint32_t its_peer = peer(op_index);
        if (op_word::kind(w) == Kind::calc) {
            found.cpu = std::max(found.cpu, static_cast<std::uint8_t>(w >> payload_shift));
        } else if (op_word::kind(w) == Kind::send || (op_word::kind(w) == Kind::recv && its_peer != any)) {
            found.peer = std::max(found.peer, its_peer);
        }
    }
    return found;
}

void RankBlock::decode(RankSchedule& schedule) const {
    schedule.clear();
    schedule.ops.reserve(size());
    const bool labelled = sizes(words_).labels != LabelKind::none;
    for (OpIndex op_index = 0; op_index < size(); ++op_index) {
        schedule.ops.push_back(op(op_index));
        for (const Edge edge : {Edge::start, Edge::end}) {
            Successors waiting = successors(op_index, edge);
            for (OpIndex successor = 0; waiting.next(successor);) {
                schedule.requirements.push_back({successor, op_index, edge});
            }
        }
        if (labelled) {
            schedule.labels.add(label(op_index));
        }
    }
}

}  // namespace idlewave::goal
