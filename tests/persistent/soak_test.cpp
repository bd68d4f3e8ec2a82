// The engine on every device of this machine for as long as one likes: soak.hpp says how to ask for it.
#include "bind_on_device.hpp"
#include "soak.hpp"

#include "devices/devices_fixture.hpp"

namespace headrace::test {
namespace {

class Soak : public OnDevices {
protected:
    Soak() : OnDevices(std::chrono::hours(24)) {} // each round has a deadline of its own
};

TEST_P(Soak, NothingIsLostOrDoubledWhateverHappensWhen) {
    const auto bind = [this](const auto& kernel, const auto& seeds, const Memory& arrivals) {
        return bind_on_device(device(), kernel, seeds, arrivals);
    };
    soak(device(), bind, 10'000);
}

INSTANTIATE_TEST_SUITE_P(Devices, Soak, every_device(), test_name);

} // namespace
} // namespace headrace::test
