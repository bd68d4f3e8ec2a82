// apps/python/bindings.hpp - the parts of headrace._core. headrace/__init__.py calls them, with arguments by
// name.
#pragma once
#include <pybind11/pybind11.h>

namespace headrace::python {

void bind_session(pybind11::module_& module);
void bind_fluorescence(pybind11::module_& module);
void bind_render(pybind11::module_& module);
void bind_nbody(pybind11::module_& module);
void bind_optical_flow(pybind11::module_& module);

} // namespace headrace::python
