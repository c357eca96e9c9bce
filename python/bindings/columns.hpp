#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace idlewave {

/// The values of a vector that does not change any more, read-only, as an array of a Python library; no copy is made.
template <class Library, class T>
nanobind::object view_of(std::vector<T> values) {
    auto* owned = new std::vector<T>(std::move(values));
    const nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nanobind::cast(
        nanobind::ndarray<Library, const T, nanobind::ndim<1>>(owned->data(), {owned->size()}, owner));
}

/// As a numpy array.
template <class T>
nanobind::object column(std::vector<T> values) {
    return view_of<nanobind::numpy>(std::move(values));
}

/// Finish times: their latest, and all of them without loading numpy, which takes longer than many a simulation.
inline void put_finish(nanobind::dict& answer, std::vector<Time> finish) {
    answer["max_finish"] = finish.empty() ? Time{0} : *std::max_element(finish.begin(), finish.end());
    answer["finish_view"] = view_of<nanobind::memview>(std::move(finish));
}

/// A column made of one field of every row.
template <class T, class Rows, class Field>
nanobind::object column_of(const Rows& rows, Field field) {
    std::vector<T> values;
    values.reserve(rows.size());
    for (const auto& row : rows) {
        values.push_back(static_cast<T>(field(row)));
    }
    return column(std::move(values));
}

}  // namespace idlewave
