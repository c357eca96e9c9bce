#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/error.hpp"

namespace idlewave::loggops {

/// The present handles of open rendezvous whose ranks have moved to this thread. The other side of such a rendezvous
/// still sends the handle of the old place. A rendezvous is known by its sender and its id.
class MigratedHandles {
  public:
    void add(std::uint32_t sender, std::uint32_t rendezvous_id, std::uint32_t handle) {
        handles_[key(sender, rendezvous_id)] = handle;
    }

    /// Returns the handle and forgets it: each side of a rendezvous is looked up once.
    std::uint32_t take(std::uint32_t sender, std::uint32_t rendezvous_id) {
        const auto found = handles_.find(key(sender, rendezvous_id));
        if (found == handles_.end()) {
            throw LogicError("there is no open rendezvous of rank " + std::to_string(sender) + " with the id " +
                             std::to_string(rendezvous_id));
        }
        const std::uint32_t handle = found->second;
        handles_.erase(found);
        return handle;
    }

  private:
    static std::uint64_t key(std::uint32_t sender, std::uint32_t rendezvous_id) {
        return std::uint64_t{sender} << 32 | rendezvous_id;
    }

    std::unordered_map<std::uint64_t, std::uint32_t> handles_;
};

}  // namespace idlewave::loggops
