// apps/path_tracer/growing_picture.cpp - see growing_picture.hpp.
#include "growing_picture.hpp"

#include <algorithm>
#include <utility>

namespace path_tracer {

GrowingPicture::GrowingPicture(const Frame& frame, KernelChoice kernel, const SceneDomains& scene, Run run)
    : frame_(frame),
      kernel_(kernel),
      scene_(scene),
      run_(std::move(run)),
      film_("film", {frame.height, frame.width}),
      sums_(film_),
      jobs_("nothing was rendered") {}

void GrowingPicture::add(std::uint32_t samples) {
    while (samples > 0) {
        const auto now = std::min(samples, static_cast<std::uint32_t>(most_film_samples));
        Frame frame = frame_;
        frame.first_sample = samples_;
        try {
            jobs_.add(run_(render_job(kernel_, frame, now, scene_, film_)));
        } catch (...) {
            std::ranges::fill(film_.fill(),
                              Rgb{0, 0, 0}); // else the next pass adds to what this one has left
            throw;
        }
        sums_.take_film();
        samples_ += now;
        samples -= now;
    }
}

std::vector<Rgb> GrowingPicture::pixels() const {
    const double factor = samples_ > 0 ? 1.0 / samples_ : 0;
    std::vector<Rgb> pixels;
    pixels.reserve(sums_.taken().size());
    for (const RgbSum& sum : sums_.taken())
        pixels.push_back({static_cast<float>(sum.r * factor), static_cast<float>(sum.g * factor),
                          static_cast<float>(sum.b * factor)});
    return pixels;
}

Rendered GrowingPicture::rendered() const {
    return {jobs_.total(),
            {sums_.taken().begin(), sums_.taken().end()},
            std::vector<std::uint32_t>(sums_.taken().size(), samples_)};
}

} // namespace path_tracer
