// tests/apps/barnes_hut_on_devices.hpp - what tests of forces have in common: every device, every kernel.
#pragma once
#include "devices/devices_fixture.hpp"
#include "simulation.hpp"

#include <optional>
#include <utility>

namespace barnes_hut::test {

inline constexpr KernelChoice every_kernel[] = {KernelChoice::consumer, KernelChoice::producer,
                                                KernelChoice::producer_node};

class ForcesOnDevices : public headrace::test::OnDevices {
protected:
    void SetUp() override {
        OnDevices::SetUp();
        if (!devices_.empty()) runtime_.emplace(std::move(devices_), headrace::RuntimeOptions{});
    }
    Field field(const Bodies& bodies, const Settings& settings) {
        Gravity gravity(*runtime_, settings);
        const auto run = [this](const headrace::Job& job) { runtime_->submit(job).wait(); };
        gravity.place(bodies);
        gravity.build_tree(run);
        run(gravity.job(true));
        Field field;
        gravity.collect(field);
        interactions_ = gravity.interactions();
        return field;
    }

    std::optional<headrace::Runtime> runtime_;
    Interactions interactions_; ///< of the last field
};

} // namespace barnes_hut::test
