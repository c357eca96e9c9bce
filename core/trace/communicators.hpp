#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "trace/rank_trace.hpp"
#include "trace/topologies.hpp"

namespace idlewave::trace {

/// The communicators of a trace, by the ids that all their members use.
class Communicators {
  public:
    static constexpr std::uint64_t world_id = 1;
    static constexpr std::uint64_t self_id = 2;

    struct Group {
        std::vector<std::uint32_t> members;  ///< world ranks
        bool intercommunicator = false;
    };

    /// Collects the definitions from the files of all ranks. Throws an InputError with the file if one is invalid.
    explicit Communicators(const Trace& trace);

    /// The group of the communicator with this id, as seen by `rank`: of an intercommunicator the remote group. Null if
    /// no member defined it.
    [[nodiscard]] const Group* find(std::uint64_t id, std::uint32_t rank) const;

    /// All communicators but MPI_COMM_SELF, by id; an intercommunicator has two groups, if members of both defined it.
    [[nodiscard]] const std::map<std::uint64_t, std::vector<Group>>& all() const { return groups_; }

    /// With whom `world_rank`, which is `rank` of the communicator, exchanges messages in neighbourhood collectives.
    /// Null if the communicator has no topology.
    [[nodiscard]] const Neighborhood* neighborhood(std::uint64_t id, std::uint32_t world_rank, std::uint32_t rank) {
        return topologies_.find(id, world_rank, rank);
    }

    /// The group of an intercommunicator that has `rank`; null if no member of it defined it.
    [[nodiscard]] const Group* find_own(std::uint64_t id, std::uint32_t rank) const;

    /// The index of the communicator in `used`; adds it if it is not there.
    std::uint32_t use(std::uint64_t id, std::uint32_t rank);

    /// The index of the ranks of both groups of an intercommunicator. First comes the group whose rank 0 has the lower
    /// world rank, so that all ranks agree.
    std::uint32_t use_both(std::uint64_t id, std::uint32_t rank);
    /// The index of `root`, a world rank, followed by `others`, the group that is not its own.
    std::uint32_t use_root(std::uint64_t id, std::uint32_t root, std::vector<std::uint32_t> others);

    /// The members of the used communicator with this index, ranks of the world.
    [[nodiscard]] const std::vector<std::uint32_t>& members(std::uint32_t index) const { return used_[index]; }

    /// The members of the used communicators, by index.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> used() const { return used_; }

  private:
    /// The id, what its members are, and the world rank of the caller for MPI_COMM_SELF, of the root for
    /// `root_and_others`, else 0.
    enum class Members : std::uint8_t { communicator, both_groups, root_and_others };
    using Key = std::tuple<std::uint64_t, Members, std::uint32_t>;

    void define(const RankTrace& rank, const TraceRecord& record);
    std::uint32_t use(const Key& key, std::vector<std::uint32_t> members);

    std::map<std::uint64_t, std::vector<Group>> groups_;  ///< by id; an intercommunicator has two groups
    std::vector<Group> self_groups_;
    Topologies topologies_;
    std::map<Key, std::uint32_t> index_;
    std::vector<std::vector<std::uint32_t>> used_;
};

}  // namespace idlewave::trace
