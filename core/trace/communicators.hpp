#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/rank_trace.hpp"

namespace idlewave {

/// The communicators of a trace, by the ids that their members agree on.
class Communicators {
  public:
    static constexpr std::uint64_t world_id = 1;
    static constexpr std::uint64_t self_id = 2;

    struct Known {
        std::vector<std::uint32_t> members;  ///< world ranks
        bool intercommunicator = false;
    };

    /// Collects the definitions in all ranks' files. Throws InputError naming file and call where one is impossible.
    explicit Communicators(const Trace& trace);

    /// The communicator of this id as `rank` sees it (of an intercommunicator the other group); null if no member
    /// defined it.
    [[nodiscard]] const Known* find(std::uint64_t id, std::uint32_t rank) const;

    /// Its index in `used`, where it is put if it is not there.
    std::uint32_t use(std::uint64_t id, std::uint32_t rank);

    /// The members of the communicators that were used, by index.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> used() const { return used_; }

  private:
    void define(const RankTrace& rank, const TraceRecord& record);

    std::map<std::uint64_t, std::vector<Known>> known_;  ///< of an intercommunicator both groups
    std::vector<Known> selves_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> index_;  ///< by id, and by rank for self
    std::vector<std::vector<std::uint32_t>> used_;
};

}  // namespace idlewave
