// apps/python/module.cpp - headrace._core: what headrace/__init__.py is made of.
#include "bindings.hpp"
#include "session.hpp"

#include <pybind11/stl.h>

#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace headrace::python {
namespace {

/// headrace.Error, with the words that programs print, and the kind as an attribute.
void translate_errors(py::module_& module) {
    static PyObject* error = nullptr; // never freed: the interpreter may end before this module
    error = py::exception<Error>(module, "Error", PyExc_RuntimeError).release().ptr();
    // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 wants this type
    py::register_exception_translator([](std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const Error& failure) {
            py::object instance = py::reinterpret_borrow<py::object>(error)(failure.what());
            instance.attr("kind") = to_string(failure.kind());
            PyErr_SetObject(error, instance.ptr());
        }
    });
}

py::dict dict_of(const DeviceInfo& info) {
    py::dict device;
    device["id"] = info.id;
    device["name"] = info.name;
    device["kind"] = to_string(info.kind);
    device["technology"] = info.technology;
    device["memory"] = info.memory;
    device["compute_units"] = info.compute_units;
    device["driver"] = info.driver;
    device["peak_gflops"] = info.peak_gflops;
    return device;
}

} // namespace

void bind_session(py::module_& module) {
    py::class_<Session, std::shared_ptr<Session>>(module, "Session")
        .def(py::init([](const std::string& devices, const std::string& policy, const std::string& model,
                         const std::map<std::string, double>& powers, unsigned window) {
                 RuntimeOptions options;
                 options.devices = devices;
                 options.policy = policy;
                 options.model = model;
                 options.powers = powers;
                 options.window = window;
                 return std::make_shared<Session>(std::move(options));
             }),
             py::arg("devices"), py::arg("policy"), py::arg("model"), py::arg("powers"), py::arg("window"))
        .def("devices",
             [](Session& session) {
                 std::vector<const DeviceInfo*> found;
                 {
                     const py::gil_scoped_release no_gil;
                     found = session.runtime().devices();
                 }
                 py::list devices;
                 for (const DeviceInfo* const info : found) devices.append(dict_of(*info));
                 return devices;
             })
        .def("close", &Session::close, py::call_guard<py::gil_scoped_release>());
}

} // namespace headrace::python

PYBIND11_MODULE(_core, module) {
    module.attr("__version__") = HEADRACE_VERSION;
    headrace::python::translate_errors(module);
    headrace::python::bind_session(module);
    headrace::python::bind_fluorescence(module);
    headrace::python::bind_render(module);
    headrace::python::bind_nbody(module);
    headrace::python::bind_optical_flow(module);
}
