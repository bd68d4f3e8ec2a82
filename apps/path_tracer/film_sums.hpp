// apps/path_tracer/film_sums.hpp - sums of samples beyond what floats add up.
//
// Devices add samples to a film of floats. After some thousand samples the next one is rounded to what is
// left of 24 bits beside their sum, always to the same side where samples are alike. So the host takes the
// film along into doubles now and then, and devices begin with zeros again.
#pragma once
#include "layout.h"
#include <headrace/headrace.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace path_tracer {

struct RgbSum {
    double r = 0, g = 0, b = 0;
};
[[nodiscard]] inline double luminance(const RgbSum& sum) {
    return 0.2126 * sum.r + 0.7152 * sum.g + 0.0722 * sum.b;
}

/// Samples of a pixel that a film takes: samples that are all alike are off by 6e-5 then, at most.
constexpr std::uint64_t most_film_samples = 2048;

/// Of one film. On the ranks of a cluster all have the same.
class FilmSums {
public:
    explicit FilmSums(const headrace::Domain<Rgb>& film) : film_(film), sums_(film.size()) {}

    /// What the film has, too, while no job adds to it.
    [[nodiscard]] std::vector<RgbSum> with_film() const {
        std::vector<RgbSum> sums = sums_;
        add_film(sums);
        return sums;
    }
    /// Takes the film along, which has zeros then. No job may add to it meanwhile.
    void take_film() {
        add_film(sums_);
        for (Rgb& pixel : film_.fill()) pixel = {0, 0, 0};
    }
    [[nodiscard]] std::span<const RgbSum> taken() const { return sums_; }

private:
    void add_film(std::vector<RgbSum>& sums) const {
        const std::span<const Rgb> film = film_.gather();
        for (std::size_t i = 0; i < film.size(); ++i) {
            sums[i].r += double{film[i].r};
            sums[i].g += double{film[i].g};
            sums[i].b += double{film[i].b};
        }
    }

    headrace::Domain<Rgb> film_;
    std::vector<RgbSum> sums_;
};

} // namespace path_tracer
