#pragma once

#include <cstdint>
#include <span>

#include "pdes/image.hpp"
#include "pdes/statistics.hpp"
#include "pdes/wire.h"

namespace idlewave::pdes {

/// Gives every process the pieces that are for its partitions, of which each process has `threads` and the first one
/// the first: what is then in `image` is for this process. All processes call it, none of which has anything else on
/// the wire. Throws TransportError.
void exchange(Image& image, const idlewave_wire& wire, std::uint32_t threads);

/// Nobody goes on before all have come here; `wire`: null if there is one process. Throws TransportError.
void meet(const idlewave_wire* wire);

/// The sums over all processes, in each; `wire`: null if there is one process. Throws TransportError.
void add_up(std::span<std::uint64_t> values, const idlewave_wire* wire);
void add_up(Statistics& statistics, const idlewave_wire* wire);

}  // namespace idlewave::pdes
