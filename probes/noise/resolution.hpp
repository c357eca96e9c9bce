// The time resolution on a core: the cost of one reading of the counter.
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

// The cost of one read in ticks: the quickest of many rows of reads, without a loop.
inline double shortest_read(int rows) {
    Ticks shortest = never;
    for (int i = 0; i < rows; ++i) {
        shortest = std::min(shortest, detail::time_reads(std::make_index_sequence<reads_in_a_row - 1>()));
    }
    return static_cast<double>(shortest) / reads_in_a_row;
}

}  // namespace idlewave::probe
