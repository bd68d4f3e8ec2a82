// tests/apps/reference_gravity.hpp - Newton's sum over all pairs, in double precision: what forces are
// compared with.
#pragma once
#include "bodies.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace barnes_hut::test {

struct Reference {
    Vector acceleration;
    double potential = 0;
};

/// What all others do to body `at`. Without softening, those at the same place do nothing.
inline Reference direct_sum(const Bodies& bodies, std::size_t at, double softening) {
    Reference sum;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double x = bodies.places[i].x - bodies.places[at].x,
                     y = bodies.places[i].y - bodies.places[at].y,
                     z = bodies.places[i].z - bodies.places[at].z;
        const double distance = std::sqrt(x * x + y * y + z * z + softening * softening);
        if (i == at || distance == 0) continue;
        const double factor = bodies.masses[i] / distance / distance / distance;
        sum.acceleration.x += factor * x;
        sum.acceleration.y += factor * y;
        sum.acceleration.z += factor * z;
        sum.potential -= bodies.masses[i] / distance;
    }
    return sum;
}

inline double length(const Vector& v) { return std::hypot(v.x, v.y, v.z); }
inline double distance(const Vector& a, const Vector& b) {
    return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
}

/// Relative errors of some accelerations, in ascending order: of every `stride`th.
inline std::vector<double> errors_of(const Bodies& bodies, const std::vector<Vector>& accelerations,
                                     double softening, std::size_t stride) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < bodies.size(); i += stride) {
        const Vector exact = direct_sum(bodies, i, softening).acceleration;
        errors.push_back(distance(accelerations[i], exact) / length(exact));
    }
    std::sort(errors.begin(), errors.end());
    return errors;
}

} // namespace barnes_hut::test
