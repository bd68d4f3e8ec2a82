// bench/together/fluorescence.cpp - three-layer tissue with a fluorophore in the second.
#include "fluorescence/simulation.hpp"
#include "workload.hpp"

#include <memory>

namespace bench {

Workload fluorescence(const std::string& kernel, std::uint64_t packets) {
    namespace app = ::fluorescence;
    app::Problem problem;
    problem.name = "three layers";
    problem.grid = {0.005, 0.005, 80, 100, 30, {}, {}, 160, 160};
    problem.layers = {{1.45, {16, 400, 0.8}, 0.01, app::Optical{12, 370, 0.8}},
                      {1.40, {3, 250, 0.8}, 0.10, app::Optical{2.2, 230, 0.8}},
                      {1.44, {2.5, 200, 0.8}, 0.29, app::Optical{2, 190, 0.8}}};
    problem.layers[1].fluorophore_mua = 1;
    problem.layers[1].quantum_yield = 0.3;
    app::Settings settings;
    settings.kernel = kernel == "consumer" ? app::KernelChoice::consumer : app::KernelChoice::producer;
    settings.photons = packets;
    return {"fluorescence, " + kernel + ", " + std::to_string(packets) + " packets",
            [problem, settings](headrace::Runtime& runtime) -> TakeTurn {
                return [&runtime, problem, settings] {
                    const app::Simulation simulation(problem, settings);
                    return timed(runtime, simulation.job(), [&] { static_cast<void>(simulation.totals()); });
                };
            }};
}

} // namespace bench
