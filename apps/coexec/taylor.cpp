// apps/coexec/taylor.cpp - sine and cosine of many angles by their series: regular.
#include "problems.hpp"
#include "taylor.kernels.hpp"

#include "taylor.cl.hpp"

#include <cmath>
#include <numbers>

namespace coexec {
namespace {

using headrace::Task;

class Taylor final : public Problem {
public:
    Taylor(const Settings& settings, const headrace::Runtime& runtime)
        : Problem(runtime),
          terms_(settings.terms),
          angles_(input<float>("angles", {settings.size})),
          sines_(result<float>("sines", {settings.size})),
          cosines_(result<float>("cosines", {settings.size})) {
        constexpr auto pi = std::numbers::pi_v<float>;
        fill_at_random(angles_.fill(), settings.seed, 0, -pi, pi);
    }

    [[nodiscard]] std::string text() const override {
        return "taylor: " + std::to_string(angles_.size()) + " angles, " + std::to_string(terms_) + " terms";
    }

    [[nodiscard]] headrace::Job job() const override {
        headrace::Job job("taylor", angles_.size());
        job.kernel_name("taylor, " + std::to_string(terms_) + " terms")
            .reads(rows(angles_))
            .writes(rows(sines_), rows(cosines_))
            .kernel([angles = angles_, sines = sines_, cosines = cosines_, terms = terms_](Task& task) {
                return Series{task.read(angles), task.write(sines), task.write(cosines), terms};
            })
            .opencl(opencl_kernel("taylor.cl", headrace::embedded::taylor_cl),
                    [angles = angles_, sines = sines_, cosines = cosines_,
                     terms = terms_](Task& task, headrace::OpenClArguments& arguments) {
                        arguments.buffer(task.memory(angles))
                            .buffer(task.memory(sines))
                            .buffer(task.memory(cosines))
                            .value(terms);
                    });
        return job;
    }

    [[nodiscard]] Verdict verify(std::uint64_t stride) const override {
        Verdict verdict;
        const auto angles = angles_.gather(), sines = sines_.gather(), cosines = cosines_.gather();
        for (std::uint64_t i = 0; i < angles.size(); i += stride) {
            const double x = angles[i];
            // Each level of Horner's scheme rounds five times, once by up to 2.5 units in OpenCL, which
            // counts as much as its term does. Without their signs, terms add up to cosh(x).
            const double allowed = 12 * 0x1p-24 * std::cosh(x);
            verdict.compare("sine", i, sines[i], serially(x, x, 1), allowed);
            verdict.compare("cosine", i, cosines[i], serially(1, x, 0), allowed);
        }
        return verdict;
    }

private:
    /// Of the series that begins with `term`, x^degree, and goes on by every second power.
    [[nodiscard]] double serially(double term, double x, double degree) const {
        double sum = 0;
        for (std::uint32_t k = 0; k < terms_ && term != 0; ++k) {
            sum += term;
            degree += 2;
            term *= -x * x / (degree * (degree - 1));
        }
        return sum;
    }

    std::uint32_t terms_;
    headrace::Domain<float> angles_, sines_, cosines_;
};

} // namespace

std::unique_ptr<Problem> make_taylor(const Settings& settings, const headrace::Runtime& runtime) {
    return std::make_unique<Taylor>(settings, runtime);
}

} // namespace coexec
