// How finely a core's time can be looked at: what one reading of the counter costs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "common/ticks.hpp"

namespace idlewave::probe {

constexpr Ticks never = std::numeric_limits<Ticks>::max();
constexpr std::size_t reads_in_a_row = 64;

namespace detail {

template <std::size_t... Index>
Ticks time_reads(std::index_sequence<Index...> /*unrolled*/) {
    const Ticks begin = read_ticks();
    ((static_cast<void>(Index), static_cast<void>(read_ticks())), ...);
    return read_ticks() - begin;
}

}  // namespace detail

// Of reads one behind the other, without a loop: the quickest of many rows, in ticks for one read.
inline double shortest_read(int rows) {
    Ticks shortest = never;
    for (int i = 0; i < rows; ++i) {
        shortest = std::min(shortest, detail::time_reads(std::make_index_sequence<reads_in_a_row - 1>()));
    }
    return static_cast<double>(shortest) / reads_in_a_row;
}

}  // namespace idlewave::probe
