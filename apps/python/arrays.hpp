// apps/python/arrays.hpp - vectors as NumPy arrays, without copies.
#pragma once
#include <pybind11/numpy.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace headrace::python {

/// An array that owns what the vector had. With the GIL.
template <class T>
pybind11::array_t<T> array_of(std::vector<T> values, const std::vector<std::size_t>& shape) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = owned->data();
    const pybind11::capsule owner(owned.get(),
                                  [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
    static_cast<void>(owned.release()); // the capsule's
    return pybind11::array_t<T>(shape, data, owner);
}

/// What Python gives: contiguous, converted if it must be.
template <class T>
using Input = pybind11::array_t<T, pybind11::array::c_style | pybind11::array::forcecast>;

} // namespace headrace::python
