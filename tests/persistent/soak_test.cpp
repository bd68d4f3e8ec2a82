// The engine on every device of this machine for as long as one likes: soak.hpp says how to ask for it.
#include "bind_on_device.hpp"
#include "exchange.hpp"
#include "soak.hpp"

#include "devices/devices_fixture.hpp"

namespace headrace::test {
namespace {

auto binder(const Device& device) {
    return [&device](const auto& kernel, const auto& seeds, const Memory& arrivals) {
        return bind_on_device(device, kernel, seeds, arrivals);
    };
}

class Soak : public OnDevices {
protected:
    Soak() : OnDevices(std::chrono::hours(24)) {} // each round has a deadline of its own
};

TEST_P(Soak, NothingIsLostOrDoubledWhateverHappensWhen) { soak(device(), binder(device()), 10'000); }

TEST_P(Soak, WhatIsGivenToAndFroBesideTheCpuArrivesOnce) {
    const auto cpu = std::move(select_devices("cpu").devices.at(0));
    exchange(device(), binder(device()), *cpu, binder(*cpu), 5'000);
}

INSTANTIATE_TEST_SUITE_P(Devices, Soak, every_device(), test_name);

} // namespace
} // namespace headrace::test
