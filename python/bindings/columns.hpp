#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace idlewave {

/// A read-only numpy array over the values of a vector that nobody changes any more; no copy is made.
template <class T>
nanobind::object column(std::vector<T> values) {
    auto* owned = new std::vector<T>(std::move(values));
    const nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>>(owned->data(), {owned->size()}, owner));
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
