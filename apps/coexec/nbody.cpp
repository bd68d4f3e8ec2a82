// apps/coexec/nbody.cpp - a step of bodies under gravity: every task reads all places and writes its own.
#include "nbody.kernels.hpp"
#include "problems.hpp"

#include "nbody.cl.hpp"

#include <array>
#include <cmath>

namespace coexec {
namespace {

using headrace::Task;

class NBody final : public Problem {
public:
    NBody(const Settings& settings, const headrace::Runtime& runtime)
        : Problem(runtime),
          places_(input<Float4>("places", {settings.size})),
          velocities_(input<Float4>("velocities", {settings.size})),
          new_places_(result<Float4>("new places", {settings.size})),
          new_velocities_(result<Float4>("new velocities", {settings.size})) {
        fill(places_.fill(), settings.seed, 0, 1 / static_cast<float>(settings.size));
        fill(velocities_.fill(), settings.seed, 1, 0);
    }

    [[nodiscard]] std::string text() const override {
        return "nbody: " + std::to_string(places_.size()) + " bodies";
    }

    [[nodiscard]] headrace::Job job() const override {
        headrace::Job job("nbody", places_.size());
        job.reads(places_, rows(velocities_))
            .writes(rows(new_places_), rows(new_velocities_))
            .kernel([places = places_, velocities = velocities_, new_places = new_places_,
                     new_velocities = new_velocities_](Task& task) {
                return MoveBodies{task.read(places), task.read(velocities), task.write(new_places),
                                  task.write(new_velocities), motion};
            })
            .opencl(opencl_kernel("nbody.cl", headrace::embedded::nbody_cl),
                    [places = places_, velocities = velocities_, new_places = new_places_,
                     new_velocities = new_velocities_](Task& task, headrace::OpenClArguments& arguments) {
                        arguments.buffer(task.memory(places))
                            .buffer(task.memory(velocities))
                            .buffer(task.memory(new_places))
                            .buffer(task.memory(new_velocities))
                            .value(places.size())
                            .value(motion);
                    });
        return job;
    }

    [[nodiscard]] Verdict verify(std::uint64_t stride) const override {
        Verdict verdict;
        const auto places = places_.gather(), velocities = velocities_.gather();
        const auto new_places = new_places_.gather(), new_velocities = new_velocities_.gather();
        for (std::uint64_t i = 0; i < places.size(); i += stride) {
            const Vector place = as_array(places[i]), velocity = as_array(velocities[i]);
            const Pulls pulls = serially(places, i);
            compare(verdict, "velocity", i, as_array(new_velocities[i]), velocity, {}, pulls, motion.dt);
            compare(verdict, "place", i, as_array(new_places[i]), place, velocity, pulls,
                    0.5 * motion.dt * motion.dt);
        }
        return verdict;
    }

private:
    using Vector = std::array<double, 4>;
    /// What all others do to a body.
    struct Pulls {
        std::array<double, 3> sum{};
        double rounding = 0; ///< what a sum of floats may be away
    };
    static constexpr Motion motion{1e-4f, 1e-3f};

    static Vector as_array(const Float4& f) { return {f.x, f.y, f.z, f.w}; }

    /// In a cube of side 2.
    static void fill(std::span<Float4> to, std::uint64_t seed, std::uint32_t list, float w) {
        std::vector<float> numbers(3 * to.size());
        fill_at_random(numbers, seed, list, -1, 1);
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2], w};
    }

    static Pulls serially(std::span<const Float4> places, std::uint64_t at) {
        Pulls pulls;
        double total = 0; // of how strong they are, whatever their direction
        const Float4& body = places[at];
        for (const Float4& other : places) {
            const double x = double{other.x} - body.x, y = double{other.y} - body.y,
                         z = double{other.z} - body.z;
            const double square = x * x + y * y + z * z + motion.softening2;
            const double strength = other.w / (square * std::sqrt(square));
            pulls.sum[0] += strength * x;
            pulls.sum[1] += strength * y;
            pulls.sum[2] += strength * z;
            total += strength * std::sqrt(square);
        }
        // A pull is of some sixteen roundings. Their sum rounds as often as there are bodies, up or down as
        // chance has it: so the root of that counts, and six of it is more than chance does.
        pulls.rounding = 0x1p-24 * (16 + 6 * std::sqrt(static_cast<double>(places.size()))) * total;
        return pulls;
    }

    /// `got` is to be `before` + dt * `rate` + `factor` * acceleration.
    static void compare(Verdict& verdict, const char* what, std::uint64_t at, const Vector& got,
                        const Vector& before, const Vector& rate, const Pulls& pulls, double factor) {
        for (unsigned axis = 0; axis < 3; ++axis) {
            const double step = motion.dt * rate[axis];
            const double allowed =
                3 * 0x1p-24 * (std::abs(before[axis]) + std::abs(step)) + factor * pulls.rounding;
            verdict.compare(what, at, got[axis], before[axis] + step + factor * pulls.sum[axis], allowed);
        }
        verdict.compare(what, at, got[3], before[3], 0);
    }

    headrace::Domain<Float4> places_, velocities_, new_places_, new_velocities_;
};

} // namespace

std::unique_ptr<Problem> make_nbody(const Settings& settings, const headrace::Runtime& runtime) {
    return std::make_unique<NBody>(settings, runtime);
}

} // namespace coexec
