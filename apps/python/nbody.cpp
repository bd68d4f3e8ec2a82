// apps/python/nbody.cpp - headrace-barnes-hut's bodies for Python.
#include "arrays.hpp"
#include "barnes_hut/simulation.hpp"
#include "bindings.hpp"
#include "job_program/job_sum.hpp"
#include "session.hpp"

#include <pybind11/stl.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace headrace::python {
namespace {

using namespace barnes_hut;

std::vector<Vector> vectors_of(const Input<double>& array, const std::string& name, std::size_t bodies) {
    if (array.ndim() != 2 || static_cast<std::size_t>(array.shape(0)) != bodies || array.shape(1) != 3)
        throw Error{ErrorKind::invalid_argument,
                    name + ": must be an array of shape [" + std::to_string(bodies) + ", 3]"};
    std::vector<Vector> vectors(bodies);
    const auto rows = array.unchecked<2>();
    for (std::size_t i = 0; i < bodies; ++i) {
        const auto row = static_cast<py::ssize_t>(i);
        vectors[i] = {rows(row, 0), rows(row, 1), rows(row, 2)};
        for (const double part : {vectors[i].x, vectors[i].y, vectors[i].z})
            if (!std::isfinite(part))
                throw Error{ErrorKind::invalid_argument,
                            name + ": body " + std::to_string(i) + " has a coordinate that is not finite"};
    }
    return vectors;
}

Bodies bodies_of(const Input<double>& places, const Input<double>& velocities, const Input<double>& masses) {
    if (masses.ndim() != 1 || masses.shape(0) == 0)
        throw Error{ErrorKind::invalid_argument, "masses: must be an array of shape [bodies]"};
    const auto count = static_cast<std::size_t>(masses.shape(0));
    Bodies bodies;
    bodies.places = vectors_of(places, "positions", count);
    bodies.velocities = vectors_of(velocities, "velocities", count);
    bodies.masses.assign(masses.data(), masses.data() + count);
    for (std::size_t i = 0; i < count; ++i)
        if (!(bodies.masses[i] >= 0) || !std::isfinite(bodies.masses[i]))
            throw Error{ErrorKind::invalid_argument,
                        "masses: that of body " + std::to_string(i) + " must be 0 or more, and finite"};
    return bodies;
}

py::array_t<double> array_of_vectors(std::span<const Vector> vectors) {
    std::vector<double> parts;
    parts.reserve(3 * vectors.size());
    for (const Vector& vector : vectors) parts.insert(parts.end(), {vector.x, vector.y, vector.z});
    return array_of(std::move(parts), {vectors.size(), 3});
}

/// Bodies that move, and the session that moves them.
///
/// Threads   one at a time
class NBody {
public:
    NBody(std::shared_ptr<Session> session, const Settings& settings, Bodies bodies, double dt)
        : session_(std::move(session)),
          simulation_(session_->runtime(), settings, std::move(bodies), dt,
                      [this](const Job& job, Simulation::Phase phase) {
                          const JobReport report = session_->run(job);
                          if (phase == Simulation::Phase::forces) jobs_.add(report);
                      }) {}

    /// What has failed has left bodies half way, so a failure is the end.
    void step(std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i)
            attempt([&] {
                if (!has_field_) simulation_.compute_field(false);
                has_field_ = true;
                has_potentials_ = false;
                simulation_.step(false);
            });
    }
    [[nodiscard]] Simulation& simulation() { return simulation_; }
    Totals totals() {
        need_field(true);
        return simulation_.totals();
    }
    /// Of now. `with_potentials`: they are computed only if someone asks.
    void need_field(bool with_potentials) {
        attempt([&] {
            if (has_field_ && (has_potentials_ || !with_potentials)) return;
            simulation_.compute_field(with_potentials);
            has_field_ = true;
            has_potentials_ = with_potentials;
        });
    }
    [[nodiscard]] std::string report() const { return jobs_.total().json(); }

private:
    template <class Work>
    void attempt(const Work& work) {
        if (has_failed_)
            throw Error{ErrorKind::invalid_argument,
                        "an earlier step failed or was interrupted, so the bodies are not known; begin anew"};
        has_failed_ = true;
        work();
        has_failed_ = false;
    }

    const std::shared_ptr<Session> session_;
    job_program::JobSum jobs_{"no forces were computed"};
    Simulation simulation_;
    bool has_field_ = false, has_potentials_ = false, has_failed_ = false;
};

/// What a part of the field or of the bodies is, as an array.
template <class Get>
auto without_gil(NBody& nbody, bool with_field, bool with_potentials, const Get& get) {
    const py::gil_scoped_release no_gil;
    if (with_field) nbody.need_field(with_potentials);
    return get(nbody.simulation());
}

} // namespace

void bind_nbody(py::module_& module) {
    py::class_<NBody>(module, "NBody")
        .def(py::init([](std::shared_ptr<Session> session, const Input<double>& positions,
                         const Input<double>& velocities, const Input<double>& masses, double dt,
                         double theta, double accuracy, double softening, double gravity, bool quadrupole,
                         const std::string& kernel) {
                 Settings settings;
                 settings.theta = theta;
                 settings.accuracy = accuracy;
                 settings.softening = softening;
                 settings.gravity = gravity;
                 settings.quadrupole = quadrupole;
                 settings.kernel = kernel == "consumer" ? KernelChoice::consumer : KernelChoice::producer;
                 Bodies bodies = bodies_of(positions, velocities, masses);
                 const py::gil_scoped_release no_gil;
                 return std::make_unique<NBody>(std::move(session), settings, std::move(bodies), dt);
             }),
             py::arg("session"), py::arg("positions"), py::arg("velocities"), py::arg("masses"),
             py::kw_only(), py::arg("dt"), py::arg("theta"), py::arg("accuracy"), py::arg("softening"),
             py::arg("gravity"), py::arg("quadrupole"), py::arg("kernel"))
        .def("step", &NBody::step, py::arg("steps"), py::call_guard<py::gil_scoped_release>())
        .def("positions",
             [](NBody& nbody) {
                 const Bodies& bodies = without_gil(nbody, false, false, [](Simulation& simulation) {
                     return std::cref(simulation.bodies());
                 });
                 return array_of_vectors(bodies.places);
             })
        .def("velocities",
             [](NBody& nbody) {
                 const Bodies& bodies = without_gil(nbody, false, false, [](Simulation& simulation) {
                     return std::cref(simulation.bodies());
                 });
                 return array_of_vectors(bodies.velocities);
             })
        .def("accelerations",
             [](NBody& nbody) {
                 const Field& field = without_gil(nbody, true, false, [](Simulation& simulation) {
                     return std::cref(simulation.field());
                 });
                 return array_of_vectors(field.accelerations);
             })
        .def("potentials",
             [](NBody& nbody) {
                 std::vector<double> potentials = without_gil(
                     nbody, true, true, [](Simulation& simulation) { return simulation.potentials(); });
                 const std::size_t count = potentials.size();
                 return array_of(std::move(potentials), {count});
             })
        .def("totals",
             [](NBody& nbody) {
                 Totals totals;
                 {
                     const py::gil_scoped_release no_gil;
                     totals = nbody.totals();
                 }
                 py::dict dict;
                 const auto triple = [](const Vector& v) { return py::make_tuple(v.x, v.y, v.z); };
                 dict["kinetic"] = totals.kinetic;
                 dict["potential"] = totals.potential;
                 dict["momentum"] = triple(totals.momentum);
                 dict["angular_momentum"] = triple(totals.angular_momentum);
                 return dict;
             })
        .def("report", &NBody::report)
        .def_property_readonly("steps", [](NBody& nbody) { return nbody.simulation().steps(); })
        .def_property_readonly("size", [](NBody& nbody) { return nbody.simulation().size(); });
    module.def(
        "plummer_sphere",
        [](std::size_t bodies, std::uint64_t seed, double gravity) {
            const Bodies sphere = plummer_sphere(bodies, seed, gravity);
            return py::make_tuple(array_of_vectors(sphere.places), array_of_vectors(sphere.velocities),
                                  array_of(sphere.masses, {sphere.size()}));
        },
        py::arg("bodies"), py::arg("seed"), py::arg("gravity"));
}

} // namespace headrace::python
