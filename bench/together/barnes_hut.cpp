// bench/together/barnes_hut.cpp - forces in a Plummer sphere, its tree built before.
#include "barnes_hut/gravity.hpp"
#include "workload.hpp"

#include <memory>

namespace bench {

Workload barnes_hut(const std::string& kernel, std::uint64_t count) {
    namespace app = ::barnes_hut;
    return {"Barnes-Hut, " + kernel + ", " + std::to_string(count) + " bodies",
            [=](headrace::Runtime& runtime) -> TakeTurn {
                app::Settings settings;
                settings.kernel =
                    kernel == "consumer" ? app::KernelChoice::consumer : app::KernelChoice::producer;
                settings.softening = 1e-3;
                settings.tree = app::TreeChoice::host;
                struct Data {
                    Data(headrace::Runtime& runtime, const app::Settings& settings, std::uint64_t count)
                        : bodies(app::plummer_sphere(count, 1)), gravity(runtime, settings) {
                        gravity.place(bodies);
                    }
                    app::Bodies bodies;
                    app::Gravity gravity;
                    app::Field field;
                };
                const auto data = std::make_shared<Data>(runtime, settings, count);
                return [&runtime, data] {
                    const auto run = [&](const headrace::Job& job) { runtime.submit(job).wait(); };
                    data->gravity.build_tree(run);
                    return timed(runtime, data->gravity.job(false),
                                 [&] { data->gravity.collect(data->field); });
                };
            }};
}

} // namespace bench
