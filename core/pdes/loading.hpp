#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "base/archive.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "pdes/image.hpp"
#include "pdes/partition.hpp"

/// What is kept of a partition between two legs of a run: it is unloaded into an image, from which the partitions of
/// the next leg load their LPs.
namespace idlewave::pdes {

template <Model M, class Port>
void Partition<M, Port>::load(std::span<const Image::Piece> pieces) {
    for (const Image::Piece& piece : pieces) {
        Deserialiser unpacker(piece);
        while (!unpacker.done()) {
            load_next(unpacker);
        }
    }
}

template <Model M, class Port>
void Partition<M, Port>::check_loaded() const {
    if (loaded_ != lps_.size()) {
        throw InputError("what was kept of a run has " + std::to_string(loaded_) + " of the " +
                         std::to_string(lps_.size()) + " LPs of a partition");
    }
}

template <Model M, class Port>
void Partition<M, Port>::load_next(Deserialiser& unpacker) {
    switch (unpacker.next<Kept>()) {
        case Kept::lp:
            load_lp(unpacker);
            return;
        case Kept::timer:
            load_timer(unpacker);
            return;
        case Kept::event:
            load_event(unpacker);
            return;
        case Kept::output:
            load_output(unpacker);
            return;
    }
    throw InputError("what was kept of a run is damaged");
}

template <Model M, class Port>
bool Partition<M, Port>::is_here(std::uint32_t lp) const {
    if (lp >= placement_.lps()) {
        throw InputError("what was kept of a run is about an LP " + std::to_string(lp) + ", of " +
                         std::to_string(placement_.lps()));
    }
    return placement_.of(lp).partition == self_;
}

template <Model M, class Port>
void Partition<M, Port>::load_lp(Deserialiser& unpacker) {
    const auto number = unpacker.next<std::uint32_t>();
    const auto bytes = unpacker.next<std::uint32_t>();
    Deserialiser own = unpacker.part(bytes);
    if (!is_here(number)) {
        return;
    }
    const std::uint32_t local = placement_.of(number).local;
    Lp<State>& lp = lps_.make(local);
    ++loaded_;
    own(lp.sequence);
    if constexpr (packs) {
        worker_.unpack(lp.state, number, own);
    } else {
        own(lp.state);
    }
}

template <Model M, class Port>
void Partition<M, Port>::load_timer(Deserialiser& unpacker) {
    const auto lp = unpacker.next<std::uint32_t>();
    const auto time = unpacker.next<Time>();
    if (is_here(lp)) {
        const std::uint32_t local = placement_.of(lp).local;
        set_timer(lps_[local], local, time);
    }
}

template <Model M, class Port>
void Partition<M, Port>::load_event(Deserialiser& unpacker) {
    Record told;
    unpacker(told.time);
    const auto lp = unpacker.next<std::uint32_t>();
    unpacker(told.source);
    unpacker(told.sequence);
    Payload payload{};
    if constexpr (!std::is_empty_v<Payload>) {
        unpacker(payload);
        told.code = Stored::in_parcel;
    }
    if (!is_here(lp)) {
        return;
    }
    told.lp = placement_.of(lp).local;
    if (told.code == Stored::in_parcel) {
        take_in(told, payload);
    }
    push(told, grid_.cell_of(told.time));
}

template <Model M, class Port>
void Partition<M, Port>::load_output(Deserialiser& unpacker) {
    Emitted emitted{};
    unpacker(emitted);
    if constexpr (requires { emitted.lp; }) {
        if (is_here(emitted.lp)) {
            output_.push_back(emitted);
        }
    }
}

template <Model M, class Port>
void Partition<M, Port>::unload(const Placement& next, Image& image) {
    for (std::uint32_t i = 0; i < lps_.size(); ++i) {
        unload_lp(i, image.open(next.of(placement_.lp_of(self_, i)).partition));
    }
    unload_events(next, image);
    for (const Emitted& emitted : output_) {
        if constexpr (requires { emitted.lp; }) {
            Serialiser packer(image.open(next.of(emitted.lp).partition));
            packer(Kept::output);
            packer(emitted);
        }
    }
}

template <Model M, class Port>
void Partition<M, Port>::unload_lp(std::uint32_t local, Image::Piece& piece) {
    const Lp<State>& lp = lps_[local];
    const std::uint32_t number = placement_.lp_of(self_, local);
    Serialiser packer(piece);
    packer(Kept::lp);
    packer(number);
    packer(std::uint32_t{0});
    const std::size_t begin = piece.size();
    packer(lp.sequence);
    if constexpr (packs) {
        worker_.pack(lp.state, number, packer);
    } else {
        packer(lp.state);
    }
    store(piece.data() + begin - sizeof(std::uint32_t), static_cast<std::uint32_t>(piece.size() - begin));
}

template <Model M, class Port>
void Partition<M, Port>::unload_events(const Placement& next, Image& image) {
    release_held(Gvt::nothing);
    for (std::int64_t cell = first_waiting(); cell != Calendar::none; cell = first_waiting()) {
        if (!calendar_.is_near(cell)) {
            calendar_.advance(cell);
            continue;
        }
        const std::uint32_t block = calendar_.take_block(cell);
        batch_.gather(calendar_, block, cell);
        each_lp_of_batch([&](std::span<const Stored> told, bool anti) {
            const std::uint32_t lp = placement_.lp_of(self_, (block << grid_.block_shift) + told.front().lp);
            const Time begins = grid_.begin_of(cell);
            for (const Stored& stored : anti ? annihilation_.left_of(told, begins) : told) {
                Image::Piece& piece = image.open(next.of(lp).partition);
                if (stored.source == Stored::timer) {
                    Serialiser packer(piece);
                    packer(Kept::timer);
                    packer(lp);
                    packer(begins + stored.offset);
                } else {
                    unload_event(opening_.open(stored, begins), lp, piece);
                }
            }
        });
    }
}

template <Model M, class Port>
void Partition<M, Port>::unload_event(const Item& event, std::uint32_t lp, Image::Piece& piece) {
    Serialiser packer(piece);
    packer(Kept::event);
    packer(event.time);
    packer(lp);
    packer(event.source);
    packer(event.sequence);
    if constexpr (!std::is_empty_v<Payload>) {
        packer(*event.payload);
    }
}

/// Shows what each LP of the batch is told to `use`, and whether something is taken back.
template <Model M, class Port>
template <class Use>
void Partition<M, Port>::each_lp_of_batch(Use use) const {
    const std::span<const Stored> events = batch_.events();
    for (std::size_t i = 0; i < events.size();) {
        const std::size_t first = i;
        bool anti = false;
        for (; i < events.size() && events[i].lp == events[first].lp; ++i) {
            anti = anti || events[i].code == Stored::anti;
        }
        use(events.subspan(first, i - first), anti);
    }
}

}  // namespace idlewave::pdes
