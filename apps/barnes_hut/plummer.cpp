// apps/barnes_hut/plummer.cpp - see bodies.hpp.
#include "bodies.hpp"
#include "random/philox.h"

#include <oneapi/tbb/parallel_for.h>

#include <cmath>
#include <numbers>

namespace barnes_hut {
namespace {

/// Numbers of one body, uniform in [0, 1), multiples of 2^-53.
class Random {
public:
    Random(std::uint64_t seed, std::uint64_t body) : seed_(seed), body_(body) {}

    double next() {
        const auto words = random_numbers::philox4x32(
            random_numbers::Words4{static_cast<std::uint32_t>(body_), static_cast<std::uint32_t>(body_ >> 32),
                                   block_++, 0},
            static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
        return static_cast<double>((std::uint64_t{words.a} << 32 | words.b) >> 11) * 0x1p-53;
    }
    Vector direction(double length) {
        const double z = 2 * next() - 1, turn = 2 * std::numbers::pi * next();
        const double across = std::sqrt(1 - z * z);
        return {length * across * std::cos(turn), length * across * std::sin(turn), length * z};
    }

private:
    std::uint64_t seed_, body_;
    std::uint32_t block_ = 0;
};

void centre(std::vector<Vector>& vectors) {
    Vector sum;
    for (const Vector& vector : vectors) sum = {sum.x + vector.x, sum.y + vector.y, sum.z + vector.z};
    const auto n = static_cast<double>(vectors.size());
    for (Vector& vector : vectors)
        vector = {vector.x - sum.x / n, vector.y - sum.y / n, vector.z - sum.z / n};
}

} // namespace

Bodies plummer_sphere(std::size_t count, std::uint64_t seed, double gravity) {
    constexpr double a = 3 * std::numbers::pi / 16, kept = 0.999;
    Bodies bodies;
    bodies.places.resize(count);
    bodies.velocities.resize(count);
    bodies.masses.assign(count, 1 / static_cast<double>(count));
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
        Random random(seed, i);
        const double within = kept * (1 - random.next()); // the part of all mass that is nearer; not 0
        const double r = a / std::sqrt(std::pow(within, -2.0 / 3) - 1);
        bodies.places[i] = random.direction(r);
        // Of the speed of escape: by rejection, from q^2 (1 - q^2)^(7/2), which is below 0.1.
        double q = 0;
        for (double chance = 1; chance > q * q * std::pow(1 - q * q, 3.5);) {
            q = random.next();
            chance = 0.1 * random.next();
        }
        bodies.velocities[i] = random.direction(q * std::sqrt(2 * gravity / std::sqrt(r * r + a * a)));
    });
    if (count > 1) {
        centre(bodies.places);
        centre(bodies.velocities);
    }
    return bodies;
}

} // namespace barnes_hut
