// tests/apps/photons_on_devices.hpp - problems on every device list of this machine, and what is right within
// chance.
#pragma once
#include "domains/device_lists.hpp"
#include "photons_on_cpu.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fluorescence::test {

/// Weights are whole numbers, so what is nearly nothing has steps of 1e-9.
inline constexpr double rounding = 1e-8;

class PhotonsOnDevices : public headrace::test::OnDeviceLists {
protected:
    PhotonsOnDevices() : OnDeviceLists(headrace::test::fixed_seed()) {}
    Found find(const Problem& problem, const Settings& settings) {
        Found found = simulate(runtime(), problem, settings);
        const Totals& totals = found.totals;
        EXPECT_NEAR(totals.specular.value + totals.reflectance.value + totals.transmittance.value +
                        totals.absorbed.value,
                    1, 1e-12);
        EXPECT_EQ(totals.cut_off.value, 0);
        return found;
    }
    Totals totals(const Problem& problem, std::uint64_t photons,
                  KernelChoice kernel = KernelChoice::producer) {
        return find(problem, {kernel, GridChoice::rz, photons, seed_}).totals;
    }
    static void expect_near(const Estimate& found, double expected, double error = 0) {
        ASSERT_TRUE(found.standard_error);
        EXPECT_NEAR(found.value, expected, 5.5 * std::hypot(*found.standard_error, error) + rounding);
    }
};

inline auto photon_devices() {
    return testing::Values("cpu", headrace::test::two_private_cpus, "opencl:pocl", "opencl:nvidia", "cuda:0");
}

} // namespace fluorescence::test
