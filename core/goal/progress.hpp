#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "base/bit_set.hpp"
#include "base/small_map.hpp"
#include "goal/op.hpp"

namespace idlewave::goal {

/// An op of which some requirements are met, but not all.
template <class Moment>
struct PartlyReadyOp {
    static constexpr OpIndex none = 0xffffffff;

    OpIndex op_index = none;
    std::uint32_t left = 0;  ///< number of requirements that are not met
    Moment ready_at = {};    ///< the latest time at which a requirement was met
};

/// The progress of a rank of a Graph: which ops have become ready, and its partly ready ops by their indices. The
/// object holds 64 ops and one partly ready op, which is enough for most ranks, in 32 bytes with plain times; `more_`
/// holds the rest.
template <class Moment>
class Progress {
  public:
    /// Starts with none of `ops` ops ready.
    void begin(OpIndex ops) {
        bits_ = 0;
        first_partly_ready_.op_index = PartlyReadyOp<Moment>::none;
        more_ = nullptr;
        if (ops > 64) {
            more().ready.clear(ops - 64);
        }
    }

    [[nodiscard]] bool is_ready(OpIndex op_index) const {
        return op_index < 64 ? (bits_ >> op_index & 1) != 0 : more_->ready.test(op_index - 64);
    }
    /// Whether the rank has at most 64 ops and all are ready. With more ops it returns false.
    [[nodiscard]] bool are_few_and_ready(OpIndex ops) const {
        return ops <= 64 && static_cast<OpIndex>(std::popcount(bits_)) == ops;
    }
    void set_ready(OpIndex op_index) {
        if (op_index < 64) {
            bits_ |= std::uint64_t{1} << op_index;
        } else {
            more_->ready.set(op_index - 64);
        }
    }

    [[nodiscard]] bool has_partly_ready() const {
        return first_partly_ready_.op_index != PartlyReadyOp<Moment>::none ||
               (more_ != nullptr && !more_->partly_ready.empty());
    }

    /// The partly ready op with this index, or null.
    [[nodiscard]] PartlyReadyOp<Moment>* partly_ready(OpIndex op_index) {
        return first_partly_ready_.op_index == op_index ? &first_partly_ready_
               : more_ != nullptr                       ? more_->partly_ready.find(op_index)
                                                        : nullptr;
    }
    [[nodiscard]] const PartlyReadyOp<Moment>* partly_ready(OpIndex op_index) const {
        return const_cast<Progress*>(this)->partly_ready(op_index);
    }

    /// Adds an op of which the first requirement is met. Invalidates pointers.
    void add(const PartlyReadyOp<Moment>& partly_ready) {
        if (first_partly_ready_.op_index == PartlyReadyOp<Moment>::none) {
            first_partly_ready_ = partly_ready;
        } else {
            more().partly_ready.add(partly_ready.op_index, partly_ready);
        }
    }

    /// Removes a partly ready op.
    void remove_partly_ready(OpIndex op_index) {
        if (first_partly_ready_.op_index == op_index) {
            first_partly_ready_.op_index = PartlyReadyOp<Moment>::none;
        } else {
            more_->partly_ready.remove(op_index);
        }
    }

    /// An op index near which the rank is working, for prefetches: the partly ready op, or the last of the first 64 ops
    /// that has become ready.
    [[nodiscard]] OpIndex near() const {
        return first_partly_ready_.op_index != PartlyReadyOp<Moment>::none
                   ? first_partly_ready_.op_index
                   : static_cast<OpIndex>(std::bit_width(bits_ >> 1));
    }

    /// Passes the progress of a rank of `ops` ops to an archive.
    template <class Archive>
    void serialise(Archive& archive, OpIndex ops) {
        archive(bits_);
        archive(first_partly_ready_.op_index);
        archive(first_partly_ready_.left);
        archive(first_partly_ready_.ready_at);
        bool has_more = more_ != nullptr;  // NOLINT(misc-const-correctness): a Deserialiser writes to it
        archive(has_more);
        if constexpr (Archive::is_loading) {
            more_ = has_more ? std::make_unique<More>() : nullptr;
        }
        if (has_more) {
            more_->ready.serialise(archive, ops > 64 ? ops - 64 : 0);
            more_->partly_ready.serialise(archive);
        }
    }

  private:
    struct More {
        BitSet ready;  ///< the ops after the first 64
        SmallMap<PartlyReadyOp<Moment>> partly_ready;
    };

    More& more() {
        if (more_ == nullptr) {
            more_ = std::make_unique<More>();
        }
        return *more_;
    }

    std::uint64_t bits_ = 0;  ///< which of the first 64 ops are ready
    std::unique_ptr<More> more_;
    PartlyReadyOp<Moment> first_partly_ready_;
};

}  // namespace idlewave::goal
