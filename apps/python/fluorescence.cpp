// apps/python/fluorescence.cpp - headrace-fluorescence's simulation for Python.
#include "arrays.hpp"
#include "bindings.hpp"
#include "fluorescence/problem.hpp"
#include "fluorescence/read_toml.hpp"
#include "fluorescence/report.hpp"
#include "fluorescence/simulation.hpp"
#include "session.hpp"
#include "toml_of.hpp"

#include <pybind11/stl.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace headrace::python {
namespace {

using namespace fluorescence;
using fluorescence::Estimate; // not the library's

/// A pair: the value, and its standard error or None.
py::tuple pair_of(const Estimate& estimate) {
    return py::make_tuple(estimate.value, estimate.standard_error);
}

py::list pairs_of(const std::vector<Estimate>& estimates) {
    py::list pairs;
    for (const Estimate& estimate : estimates) pairs.append(pair_of(estimate));
    return pairs;
}

/// Grids of one wavelength.
void add_grids(py::dict& result, Grids& grids, std::size_t wavelength) {
    result["absorption"] = array_of(std::move(grids.absorption[wavelength]), grids.absorption_shape);
    if (!grids.fluence[wavelength].empty())
        result["fluence"] = array_of(std::move(grids.fluence[wavelength]), grids.absorption_shape);
    result["escape_above"] = array_of(std::move(grids.escape[wavelength][0]), grids.escape_shape);
    result["escape_below"] = array_of(std::move(grids.escape[wavelength][1]), grids.escape_shape);
}

py::list detectors_of(const std::vector<Detected>& detectors) {
    py::list list;
    for (const Detected& detector : detectors) {
        py::dict seen;
        seen["packets"] = detector.packets;
        seen["part"] = pair_of(detector.part);
        seen["paths"] = detector.path_per_layer;
        list.append(seen);
    }
    return list;
}

/// Of reflectance, transmittance, and the detectors: [2 + detectors, gates].
py::object gates_of(const Problem& problem, const std::vector<double>& gates) {
    if (problem.time.gates == 0) return py::none();
    return array_of(gates, {2 + problem.detectors.size(), problem.time.gates});
}

/// Takes the grids along.
py::dict result_of(const Problem& problem, const Totals& totals, Grids& grids, const std::string& report) {
    py::dict excitation, emission, result;
    result["specular"] = totals.specular.value;
    result["cut_off"] = totals.cut_off.value;
    excitation["above"] = pair_of(totals.reflectance);
    excitation["below"] = pair_of(totals.transmittance);
    excitation["absorbed"] = pair_of(totals.absorbed);
    excitation["layers"] = pairs_of(totals.absorbed_per_layer);
    emission["emitted"] = pair_of(totals.fluorescence.emitted);
    emission["above"] = pair_of(totals.fluorescence.escaped_top);
    emission["below"] = pair_of(totals.fluorescence.escaped_bottom);
    emission["absorbed"] = pair_of(totals.fluorescence.absorbed);
    emission["layers"] = pairs_of(totals.fluorescence.absorbed_per_layer);
    std::array<py::dict, 2> both{excitation, emission};
    for (std::size_t wavelength = 0; wavelength < both.size(); ++wavelength) {
        add_grids(both[wavelength], grids, wavelength);
        both[wavelength]["detectors"] = detectors_of(totals.detectors[wavelength]);
        both[wavelength]["gates"] = gates_of(problem, totals.gates[wavelength]);
    }
    result["excitation"] = excitation;
    result["emission"] = emission;
    result["dz"] = problem.grid.dz;
    result["dr"] = problem.grid.dr;
    result["report"] = report;
    return result;
}

py::dict simulate(Session& session, const py::dict& what, const std::string& grid, const std::string& kernel,
                  double emission_weight, std::uint32_t most_steps, bool fluence) {
    const Problem problem = problem_of(table_of(what, "fluorescence"), "fluorescence");
    Settings settings;
    settings.kernel = kernel == "consumer" ? KernelChoice::consumer : KernelChoice::producer;
    settings.grid = grid == "xyz" ? GridChoice::xyz : GridChoice::rz;
    settings.photons = problem.photons;
    settings.seed = problem.seed.value_or(1);
    settings.emission_weight = emission_weight;
    settings.most_steps = most_steps;
    settings.fluence = fluence;
    std::optional<py::gil_scoped_release> no_gil(std::in_place);
    const Simulation simulation(problem, settings);
    const JobReport job = session.run(simulation.job());
    const Totals totals = simulation.totals();
    Grids grids = simulation.grids();
    const std::string report = json_of(problem, settings, totals, job);
    no_gil.reset();
    return result_of(problem, totals, grids, report);
}

} // namespace

void bind_fluorescence(py::module_& module) {
    module.def("fluorescence", &simulate, py::arg("session"), py::arg("what"), py::kw_only(), py::arg("grid"),
               py::arg("kernel"), py::arg("emission_weight"), py::arg("most_steps"), py::arg("fluence"));
}

} // namespace headrace::python
