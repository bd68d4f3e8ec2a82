// apps/python/toml_of.hpp - what Python writes as dicts and lists, as the TOML that programs read from files.
#pragma once
#include <pybind11/pybind11.h>
#include <toml++/toml.h>

#include <string>

namespace headrace::python {

/// Of a dict, with dicts, lists, tuples, numbers, strings and booleans in it; NumPy's numbers too. A value
/// None is left out. With the GIL. Errors  invalid_argument: `where`, and the key whose value is none of them
[[nodiscard]] toml::table table_of(const pybind11::dict& dict, const std::string& where);

} // namespace headrace::python
