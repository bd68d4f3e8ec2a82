// tests/end_to_end/path_tracer.hpp - headrace-path-tracer under test: how to run it, on which devices, on
// what scenes.
#pragma once
#include "end_to_end/image.hpp"
#include "end_to_end/program.hpp"

#include <devices/two_private_cpus.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headrace::end_to_end {

[[nodiscard]] Options operator+(Options a, const Options& b);

/// Starts the program in `folder`, quietly.
[[nodiscard]] Program start_path_tracer(const Scratch& folder, const Options& options);
/// Runs it to its end.
[[nodiscard]] Outcome run_path_tracer(const Scratch& folder, const Options& options);
/// Renders to a PFM and reads it; a failure of the program throws what it said.
[[nodiscard]] Image render(const Scratch& folder, const Options& options);

/// Devices that tests are instantiated for; those that are not there are skipped by `absence`.
inline constexpr const char* every_device[] = {
    "cpu", test::two_private_cpus, "opencl:pocl", "opencl:nvidia", "cuda:0", "hip:0"};

/// A device list as GoogleTest wants the name of a case.
[[nodiscard]] std::string test_name(std::string devices);

/// Empty if the program can use every device of a comma-separated list, else the words to skip with. Throws
/// if an absent one is named in the environment's HEADRACE_REQUIRE_DEVICES (as `cuda`, meaning any such
/// device, or `cuda:0`), and if one is there but does not work.
[[nodiscard]] std::string absence(const std::string& devices);

/// Scenes whose radiance is known. Each returns the options that show it.
///
/// A convex body in the middle of the image, sky at the corners; its albedo is `albedo`.
[[nodiscard]] Options convex_body(const Scratch& folder, double albedo);
/// From inside a closed room whose walls emit 1 with albedo `albedo`.
[[nodiscard]] Options glowing_room(const Scratch& folder, double albedo);
/// A room with an area light, a diffuse, a mirror and a glass block: nothing known, everything used.
[[nodiscard]] Options furnished_room(const Scratch& folder);
/// The same with matt blocks: no caustics, whose rare bright paths would need many samples to average out.
[[nodiscard]] Options matt_room(const Scratch& folder);

} // namespace headrace::end_to_end

/// In a TEST: skips, in words, unless every device of the list is there.
#define HEADRACE_SKIP_WITHOUT(devices)                                                                       \
    if (const std::string why = ::headrace::end_to_end::absence(devices); !why.empty()) GTEST_SKIP() << why
