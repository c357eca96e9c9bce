// The victims by their names, with sizes for this core's caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "contention/caches.hpp"
#include "contention/counters.hpp"
#include "contention/victims/compressible_flow.hpp"
#include "contention/victims/conjugate_gradient.hpp"
#include "contention/victims/idle.hpp"
#include "contention/victims/lennard_jones.hpp"
#include "contention/victims/program.hpp"
#include "contention/victims/stream.hpp"
#include "contention/victims/victim.hpp"

namespace idlewave::probe::contention {

struct VictimOptions {
    std::string name;
    double interval = 0.05;            // s, of the victim idle
    std::vector<std::string> command;  // of the victim command
};

constexpr const char* victim_names = "stream, stream-cache, cg, stencil, lj, command, idle";

inline std::unique_ptr<Victim> new_victim(const VictimOptions& options, const CacheSizes& caches, CounterSource& source,
                                          std::optional<std::uint64_t> l2_event) {
    if (options.name == "stream")
        return std::make_unique<Stream>(3 * std::max(caches.largest(), std::size_t{8} << 20), 1);
    if (options.name == "stream-cache") {
        const std::size_t bytes = caches.l2 / 2;
        return std::make_unique<Stream>(bytes, static_cast<int>((std::size_t{128} << 20) / bytes));
    }
    if (options.name == "cg") return std::make_unique<ConjugateGradient>(48, 8);
    if (options.name == "stencil") return std::make_unique<CompressibleFlow>(4);
    if (options.name == "lj") return std::make_unique<LennardJones>(16, 1);
    if (options.name == "command") return std::make_unique<Program>(options.command, source, l2_event);
    if (options.name == "idle") return std::make_unique<Idle>(options.interval);
    throw refused(std::string("--victim: expected one of ") + victim_names + ", found '" + options.name + "'");
}

}  // namespace idlewave::probe::contention
