#pragma once

#include <vector>

#include "pdes/model.hpp"

namespace idlewave::pdes {

/// The records that LPs emitted and that are committed: a worker with `commit` receives them, others are kept.
template <WindowModel M>
class CommittedRecords {
  public:
    using Emitted = typename EmittedOf<M>::Type;
    static_assert(
        !emits<M> || requires(const Emitted& emitted) { emitted.lp; },
        "an emitted record has a field `lp`, the number of its LP, with which it migrates");

    void commit(typename M::Worker& worker, const Emitted& emitted) {
        if constexpr (receives_emitted<M>) {
            worker.commit(emitted);
        } else {
            output_.push_back(emitted);
        }
    }

    /// Those that were kept, of each LP in its order.
    [[nodiscard]] std::vector<Emitted>& output() { return output_; }
    [[nodiscard]] const std::vector<Emitted>& output() const { return output_; }

  private:
    std::vector<Emitted> output_;
};

}  // namespace idlewave::pdes
