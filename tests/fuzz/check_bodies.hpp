// tests/fuzz/check_bodies.hpp - what must hold of all bodies that a reader lets pass.
#pragma once
#include "read_bodies.hpp"

#include <cstdlib>

namespace headrace::fuzz {

inline void check_bodies(const barnes_hut::Bodies& bodies) {
    if (bodies.places.size() != bodies.size() || bodies.velocities.size() != bodies.size() ||
        (!bodies.ids.empty() && bodies.ids.size() != bodies.size()) ||
        (!bodies.types.empty() && bodies.types.size() != bodies.size()))
        std::abort();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        for (const barnes_hut::Vector& vector : {bodies.places[i], bodies.velocities[i]})
            for (const double value : {vector.x, vector.y, vector.z})
                if (barnes_hut::why_not(value, false)) std::abort();
        if (barnes_hut::why_not(bodies.masses[i], true)) std::abort();
    }
}

} // namespace headrace::fuzz
