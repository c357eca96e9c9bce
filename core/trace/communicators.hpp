#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/rank_trace.hpp"

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

    /// The index of the communicator in `used`; adds it if it is not there.
    std::uint32_t use(std::uint64_t id, std::uint32_t rank);

    /// How many members the used communicator with this index has.
    [[nodiscard]] std::size_t size(std::uint32_t index) const { return used_[index].size(); }

    /// The members of the used communicators, by index.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> used() const { return used_; }

  private:
    void define(const RankTrace& rank, const TraceRecord& record);

    std::map<std::uint64_t, std::vector<Group>> groups_;  ///< by id; an intercommunicator has two groups
    std::vector<Group> self_groups_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t>
        index_;  ///< by id, and for MPI_COMM_SELF also by rank
    std::vector<std::vector<std::uint32_t>> used_;
};

}  // namespace idlewave::trace
