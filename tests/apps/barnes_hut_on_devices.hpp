// tests/apps/barnes_hut_on_devices.hpp - what tests of forces have in common: every device, every kernel.
#pragma once
#include "devices/devices_fixture.hpp"
#include "simulation.hpp"

#include <optional>
#include <utility>

namespace barnes_hut::test {

inline constexpr KernelChoice every_kernel[] = {KernelChoice::consumer, KernelChoice::producer,
                                                KernelChoice::producer_node};

/// The forces that a job finds, on all devices of the runtime.
inline Field field_of(headrace::Runtime& runtime, Gravity& gravity, const Bodies& bodies,
                      bool with_potential = true) {
    const auto run = [&](const headrace::Job& job) { runtime.submit(job).wait(); };
    gravity.place(bodies);
    gravity.build_tree(run);
    run(gravity.job(with_potential));
    Field field;
    gravity.collect(field);
    return field;
}

class ForcesOnDevices : public headrace::test::OnDevices {
protected:
    void SetUp() override {
        OnDevices::SetUp();
        if (!devices_.empty()) runtime_.emplace(std::move(devices_), headrace::RuntimeOptions{});
    }
    Field field(const Bodies& bodies, const Settings& settings) {
        Gravity gravity(*runtime_, settings);
        Field field = field_of(*runtime_, gravity, bodies);
        interactions_ = gravity.interactions();
        return field;
    }

    std::optional<headrace::Runtime> runtime_;
    Interactions interactions_; ///< of the last field
};

} // namespace barnes_hut::test
