// bench/device_set.hpp - devices as a user of a benchmark writes them: "cuda:0,cuda:1*3", the second made
// three times slower than it is.
#pragma once
#include <headrace/core/device.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// "cpu,cuda:1*3" -> "cpu", "cuda:1*3"
[[nodiscard]] std::vector<std::string> members(const std::string& set);
/// "cuda:1*3" -> "cuda:1", 3
[[nodiscard]] std::pair<std::string, double> slowness(const std::string& member);
/// Errors: as headrace::select_devices
[[nodiscard]] std::vector<std::unique_ptr<headrace::Device>> open_set(const std::string& set);

} // namespace bench
