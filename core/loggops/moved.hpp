#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/error.hpp"

namespace idlewave {

/// Where those are kept now that others know at another place, since a rank has moved: by a rendezvous' sender and the
/// number of its request.
class Moved {
  public:
    void add(std::uint32_t sender, std::uint32_t number, std::uint32_t handle) {
        handles_[key(sender, number)] = handle;
    }

    /// Asked for once.
    std::uint32_t take(std::uint32_t sender, std::uint32_t number) {
        const auto found = handles_.find(key(sender, number));
        if (found == handles_.end()) {
            throw LogicError("nobody knows the rendezvous of rank " + std::to_string(sender) + " with the number " +
                             std::to_string(number));
        }
        const std::uint32_t handle = found->second;
        handles_.erase(found);
        return handle;
    }

  private:
    static std::uint64_t key(std::uint32_t sender, std::uint32_t number) {
        return std::uint64_t{sender} << 32 | number;
    }

    std::unordered_map<std::uint64_t, std::uint32_t> handles_;
};

}  // namespace idlewave
