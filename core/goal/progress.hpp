#pragma once

#include <cstdint>
#include <memory>

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

/// The progress of a rank of a Graph: how many ops have become ready, and its partly ready ops by their indices. The
/// object holds one partly ready op, which is enough for most ranks, in 32 bytes with plain times; `more_` holds the
/// others.
template <class Moment>
class Progress {
  public:
    /// Starts with no op ready.
    void begin() {
        ready_ = 0;
        near_ = 0;
        first_partly_ready_.op_index = PartlyReadyOp<Moment>::none;
        more_ = nullptr;
    }

    /// The number of ops that were handed out as ready.
    [[nodiscard]] OpIndex ready() const { return ready_; }
    /// Some ops are handed out, of which this is the first.
    void add_ready(OpIndex op_index, OpIndex count) {
        ready_ += count;
        near_ = op_index;
    }

    [[nodiscard]] bool has_partly_ready() const {
        return first_partly_ready_.op_index != PartlyReadyOp<Moment>::none || (more_ != nullptr && !more_->empty());
    }

    /// The partly ready op with this index, or null.
    [[nodiscard]] PartlyReadyOp<Moment>* partly_ready(OpIndex op_index) {
        return first_partly_ready_.op_index == op_index ? &first_partly_ready_
               : more_ != nullptr                       ? more_->find(op_index)
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
            more().add(partly_ready.op_index, partly_ready);
        }
    }

    /// Removes a partly ready op.
    void remove_partly_ready(OpIndex op_index) {
        if (first_partly_ready_.op_index == op_index) {
            first_partly_ready_.op_index = PartlyReadyOp<Moment>::none;
        } else {
            more_->remove(op_index);
        }
    }

    /// An op index near which the rank is working, for prefetches: the op that became ready last.
    [[nodiscard]] OpIndex near() const { return near_; }

    /// Passes the progress to an archive.
    template <class Archive>
    void serialise(Archive& archive) {
        archive(ready_);
        archive(near_);
        archive(first_partly_ready_.op_index);
        archive(first_partly_ready_.left);
        archive(first_partly_ready_.ready_at);
        bool has_more = more_ != nullptr;  // NOLINT(misc-const-correctness): a Deserialiser writes to it
        archive(has_more);
        if constexpr (Archive::is_loading) {
            more_ = has_more ? std::make_unique<More>() : nullptr;
        }
        if (has_more) {
            more_->serialise(archive);
        }
    }

  private:
    using More = SmallMap<PartlyReadyOp<Moment>>;

    More& more() {
        if (more_ == nullptr) {
            more_ = std::make_unique<More>();
        }
        return *more_;
    }

    OpIndex ready_ = 0;
    OpIndex near_ = 0;
    std::unique_ptr<More> more_;
    PartlyReadyOp<Moment> first_partly_ready_;
};

}  // namespace idlewave::goal
