// apps/headrace/findings.hpp - what a doctor may find wrong with a machine, each in a sentence, with what to
// do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headrace_program {

/// A line of `headrace doctor`.
struct Finding {
    enum class Level : std::uint8_t {
        fine,    ///< looked at, and in order
        note,    ///< works, and there is more to be had
        problem, ///< does not work
    };
    Level level;
    std::string about; ///< one word: "opencl"
    std::string what;
    std::string todo = {}; ///< empty: nothing
};
using Findings = std::vector<Finding>;

/// Where the system keeps what is looked at; tests have folders of their own.
struct Places {
    std::filesystem::path devices = "/dev", buses = "/sys/bus/pci/devices", control_groups = "/sys/fs/cgroup",
                          nodes = "/sys/devices/system/node", icds = icd_folder();

    /// What OpenCL's loader looks into.
    [[nodiscard]] static std::filesystem::path icd_folder();
};

/// GPUs on the bus without a driver, and device files that this user may not open.
[[nodiscard]] Findings look_at_gpus(const Places& places);
/// Entries of OpenCL's loader whose library does not load.
[[nodiscard]] Findings look_at_opencl(const Places& places);
/// Fewer processors than threads would believe, NUMA nodes.
[[nodiscard]] Findings look_at_processors(const Places& places);
/// Folders where measurements and compiled kernels are kept.
[[nodiscard]] Findings look_at_caches();
/// Tools that compile kernels for the GPUs that are there.
[[nodiscard]] Findings look_at_compilers(const Places& places);
/// What programs find: devices that do not start, technologies that this build lacks, energy meters. Each
/// device computes something whose result is known.
[[nodiscard]] Findings look_at_devices(const Places& places);

} // namespace headrace_program
