#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "base/bit_set.hpp"
#include "base/small_map.hpp"
#include "goal/op.hpp"

namespace idlewave {

/// An op of which some requirements are met, and some not.
template <class Moment>
struct Join {
    static constexpr Place nowhere = 0xffffffff;

    Place place = nowhere;
    std::uint32_t left = 0;  ///< requirements that are not met
    Moment ready_at = {};    ///< the latest of those met
};

/// How far a rank of a Graph has come: which ops are ready, and its joins by their places. Most ranks have few ops, or
/// one join at a time: that lies here, with plain times in 32 bytes. What more there is lies elsewhere.
template <class Moment>
class Progress {
  public:
    /// None of `ops` ops is ready.
    void begin(Place ops) {
        bits_ = 0;
        join_.place = Join<Moment>::nowhere;
        more_ = nullptr;
        if (ops > 64) {
            more().ready.clear(ops - 64);
        }
    }

    [[nodiscard]] bool is_ready(Place place) const {
        return place < 64 ? (bits_ >> place & 1) != 0 : more_->ready.test(place - 64);
    }
    /// Whether all of `ops` ops are. Where there are more than 64 it does not know.
    [[nodiscard]] bool are_few_and_ready(Place ops) const {
        return ops <= 64 && static_cast<Place>(std::popcount(bits_)) == ops;
    }
    void set_ready(Place place) {
        if (place < 64) {
            bits_ |= std::uint64_t{1} << place;
        } else {
            more_->ready.set(place - 64);
        }
    }

    [[nodiscard]] bool has_joins() const {
        return join_.place != Join<Moment>::nowhere || (more_ != nullptr && !more_->joins.empty());
    }

    /// The join of `place`, or null.
    [[nodiscard]] Join<Moment>* join(Place place) {
        return join_.place == place ? &join_ : more_ != nullptr ? more_->joins.find(place) : nullptr;
    }
    [[nodiscard]] const Join<Moment>* join(Place place) const { return const_cast<Progress*>(this)->join(place); }

    /// Adds one for a place that has none. Earlier pointers are void.
    void add(const Join<Moment>& join) {
        if (join_.place == Join<Moment>::nowhere) {
            join_ = join;
        } else {
            more().joins.add(join.place, join);
        }
    }

    /// Takes out one that is there.
    void remove_join(Place place) {
        if (join_.place == place) {
            join_.place = Join<Moment>::nowhere;
        } else {
            more_->joins.remove(place);
        }
    }

    /// About where the rank is: the join that waits, or the last of the first 64 ops that has become ready.
    [[nodiscard]] Place near() const {
        return join_.place != Join<Moment>::nowhere ? join_.place : static_cast<Place>(std::bit_width(bits_ >> 1));
    }

    /// Shows how far a rank of `ops` ops has come to an archive.
    template <class Archive>
    void keep(Archive& archive, Place ops) {
        archive(bits_);
        archive(join_.place);
        archive(join_.left);
        archive(join_.ready_at);
        bool has_more = more_ != nullptr;  // NOLINT(misc-const-correctness): an Unpacker writes to it
        archive(has_more);
        if constexpr (Archive::loads) {
            more_ = has_more ? std::make_unique<More>() : nullptr;
        }
        if (has_more) {
            more_->ready.keep(archive, ops > 64 ? ops - 64 : 0);
            more_->joins.keep(archive);
        }
    }

  private:
    struct More {
        BitSet ready;  ///< the ops behind the first 64
        SmallMap<Join<Moment>> joins;
    };

    More& more() {
        if (more_ == nullptr) {
            more_ = std::make_unique<More>();
        }
        return *more_;
    }

    std::uint64_t bits_ = 0;  ///< the first 64 ops: whether they are ready
    std::unique_ptr<More> more_;
    Join<Moment> join_;
};

}  // namespace idlewave
