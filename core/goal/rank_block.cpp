#include "goal/rank_block.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"

namespace idlewave {

using namespace op_word;

RankBlock::Sizes RankBlock::sizes(const std::uint64_t* header) {
    return {.ops = header[0] & 0xffffffff,
            .shapes = (header[0] >> 32) & (most_shapes - 1),
            .labels = static_cast<LabelKind>(header[0] >> label_kind_shift),
            .link_words = header[1] & 0xffffffff,
            .label_words = header[1] >> 32};
}

Shape RankBlock::shape(std::uint64_t index) const {
    return load<Shape>(reinterpret_cast<const std::byte*>(words_ + header_words + 2 * index));
}

Op RankBlock::op(Place place) const {
    Op op;
    read(place, op);
    return op;
}

void RankBlock::read(Place place, Op& op) const {
    const std::uint64_t w = word(place);
    const Kind kind = op_word::kind(w);
    if (kind == Kind::calc) {
        op.size = w >> size_shift;
        op.peer = 0;
        op.tag = 0;
        op.kind = OpKind::calc;
        op.cpu = static_cast<std::uint8_t>(w >> payload_shift);
        op.nic = 0;
    } else {
        const Shape s = shape(op_word::shape(w));
        const bool message = kind != Kind::long_calc;
        op.size = s.size;
        op.peer = message ? static_cast<std::uint32_t>(w >> peer_shift) : 0;
        op.tag = message ? s.tag : 0;
        op.kind = kind == Kind::send ? OpKind::send : message ? OpKind::recv : OpKind::calc;
        op.cpu = s.cpu;
        op.nic = message ? s.nic : std::uint8_t{0};
    }
    op.reduction = false;
}

std::uint64_t RankBlock::requirements(Place place) const {
    const std::uint64_t w = word(place);
    if (!waits_for_several(w)) {
        return waits(w) == Waits::no ? 0 : 1;
    }
    const std::uint8_t* at = entry(place);
    return take_varint(at) + 2;
}

/// Where the links of op `place` are, which has some: behind those of the ops before it in its group.
const std::uint8_t* RankBlock::entry(Place place) const {
    std::uint32_t begin = 0;
    std::memcpy(&begin, links() + sizeof begin * (place / group), sizeof begin);
    const std::uint8_t* at = stream() + begin;
    for (Place before = place - place % group; before < place; ++before) {
        if (waits_for_several(word(before))) {
            take_varint(at);
        }
        if ((word(before) & leads) != 0) {
            while ((take_varint(at) & 1) != 0) {
            }
        }
    }
    return at;
}

const std::uint8_t* RankBlock::list(Place place) const {
    const std::uint8_t* at = entry(place);
    if (waits_for_several(word(place))) {
        take_varint(at);
    }
    return at;
}

std::string RankBlock::label(Place place) const {
    const Sizes s = sizes(words_);
    if (s.labels != LabelKind::text) {
        return s.labels == LabelKind::numbered ? numbered_label(place) : std::string();
    }
    const auto* begins = reinterpret_cast<const char*>(op_words_ + size_ + s.link_words);
    std::uint32_t range[2];
    std::memcpy(range, begins + sizeof(std::uint32_t) * std::uint64_t{place}, sizeof range);
    const char* text = begins + sizeof(std::uint32_t) * (std::uint64_t{size()} + 1);
    return {text + range[0], range[1] - range[0]};
}

RankBlock::Limits RankBlock::limits() const {
    Limits found;
    const std::uint64_t shapes = sizes(words_).shapes;
    for (std::uint64_t i = 0; i < shapes; ++i) {
        found.cpu = std::max(found.cpu, shape(i).cpu);
        found.nic = std::max(found.nic, shape(i).nic);
    }
    for (Place place = 0; place < size(); ++place) {
        const std::uint64_t w = word(place);
        const std::uint64_t peer = w >> peer_shift;
        if (op_word::kind(w) == Kind::calc) {
            found.cpu = std::max(found.cpu, static_cast<std::uint8_t>(w >> payload_shift));
        } else if (op_word::kind(w) == Kind::send || (op_word::kind(w) == Kind::recv && peer != any)) {
            found.peer = std::max(found.peer, peer);
        }
    }
    return found;
}

void RankBlock::list_into(Listing& listing) const {
    listing.clear();
    listing.ops.reserve(size());
    const bool labelled = sizes(words_).labels != LabelKind::none;
    for (Place place = 0; place < size(); ++place) {
        listing.ops.push_back(op(place));
        for (const Edge edge : {Edge::start, Edge::end}) {
            Followers waiting = followers(place, edge);
            for (Place follower = 0; waiting.next(follower);) {
                listing.requirements.push_back({follower, place, edge});
            }
        }
        if (labelled) {
            listing.labels.add(label(place));
        }
    }
}

}  // namespace idlewave
