// tests/end_to_end/report.hpp - the part of a --report file that tests look at.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headrace::end_to_end {

struct Report {
    struct Device {
        std::string id, name, kind;
        double share = 0;
        std::uint64_t tasks = 0;
    };
    std::vector<Device> devices;
    double seconds = 0;
};

/// Throws if the file is not JSON or lacks a field.
[[nodiscard]] Report read_report(const std::filesystem::path& file);

} // namespace headrace::end_to_end
