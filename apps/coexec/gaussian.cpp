// apps/coexec/gaussian.cpp - a Gaussian blur of an image: regular, a task reads its rows and some beyond.
#include "gaussian.kernels.hpp"
#include "problems.hpp"

#include "gaussian.cl.hpp"

#include <algorithm>
#include <cmath>

namespace coexec {
namespace {

using headrace::Task;

/// As gaussian.cl has it.
struct Shape {
    std::int32_t rows, columns, width;
};

class Gaussian final : public Problem {
public:
    Gaussian(const Settings& settings, const headrace::Runtime& runtime)
        : Problem(runtime),
          side_(settings.size),
          width_(settings.filter),
          image_(input<float>("image", {side_, side_})),
          filter_(input<float>("filter", {width_, width_})),
          blurred_(result<float>("blurred", {side_, side_})) {
        fill_at_random(image_.fill(), settings.seed, 0, 0, 1);
        fill_filter(filter_.fill());
    }

    [[nodiscard]] std::string text() const override {
        const std::string side = std::to_string(side_), width = std::to_string(width_);
        return "gaussian: " + side + " x " + side + " pixels, filter " + width + " x " + width;
    }

    [[nodiscard]] headrace::Job job() const override {
        headrace::Job job("gaussian", blurred_.size());
        job.kernel_name("gaussian, filter " + std::to_string(width_))
            .reads(rows(image_, width_ / 2), filter_)
            .writes(rows(blurred_))
            .kernel([image = image_, filter = filter_, blurred = blurred_](Task& task) {
                return Blur{task.read(image), task.read(filter), task.write(blurred)};
            })
            .opencl(opencl_kernel("gaussian.cl", headrace::embedded::gaussian_cl),
                    [image = image_, filter = filter_, blurred = blurred_,
                     shape = shape()](Task& task, headrace::OpenClArguments& arguments) {
                        arguments.buffer(task.memory(image))
                            .buffer(task.memory(filter))
                            .buffer(task.memory(blurred))
                            .value(shape);
                    });
        return job;
    }

    [[nodiscard]] Verdict verify(std::uint64_t stride) const override {
        Verdict verdict;
        const auto image = image_.gather(), filter = filter_.gather(), blurred = blurred_.gather();
        // Weights add up to 1 and pixels are below it: so many roundings, each of at most 2^-24, in the worst
        // of orders, and those of the products.
        const double allowed = (width_ * width_ + 1) * 0x1p-24;
        for (std::uint64_t i = 0; i < blurred.size(); i += stride)
            verdict.compare("pixel", i, blurred[i], serially(image, filter, i), allowed);
        return verdict;
    }

private:
    /// Of standard deviation `width` / 6: three of them fit on either side.
    void fill_filter(std::span<float> filter) const {
        const double middle = (width_ - 1) / 2.0, deviation = width_ / 6.0;
        std::vector<double> along(width_);
        double sum = 0;
        for (std::uint32_t i = 0; i < width_; ++i) {
            const double distance = (i - middle) / deviation;
            along[i] = std::exp(-distance * distance / 2);
            sum += along[i];
        }
        for (std::uint32_t i = 0; i < width_; ++i)
            for (std::uint32_t j = 0; j < width_; ++j)
                filter[i * width_ + j] = static_cast<float>(along[i] * along[j] / (sum * sum));
    }

    [[nodiscard]] double serially(std::span<const float> image, std::span<const float> filter,
                                  std::uint64_t pixel) const {
        const auto last = static_cast<std::int64_t>(side_) - 1, radius = std::int64_t{width_ / 2};
        const auto row = static_cast<std::int64_t>(pixel / side_),
                   column = static_cast<std::int64_t>(pixel % side_);
        double sum = 0;
        for (std::int64_t i = -radius; i <= radius; ++i)
            for (std::int64_t j = -radius; j <= radius; ++j) {
                const std::int64_t y = std::clamp<std::int64_t>(row + i, 0, last),
                                   x = std::clamp<std::int64_t>(column + j, 0, last);
                sum += double{filter[(i + radius) * width_ + j + radius]} * double{image[y * side_ + x]};
            }
        return sum;
    }

    [[nodiscard]] Shape shape() const {
        const auto side = static_cast<std::int32_t>(side_);
        return {side, side, static_cast<std::int32_t>(width_)};
    }

    std::uint64_t side_;
    std::uint32_t width_;
    headrace::Domain<float> image_, filter_, blurred_;
};

} // namespace

std::unique_ptr<Problem> make_gaussian(const Settings& settings, const headrace::Runtime& runtime) {
    return std::make_unique<Gaussian>(settings, runtime);
}

} // namespace coexec
