// apps/headrace/inventory.hpp - the devices of a machine as `headrace devices` shows them.
#pragma once
#include <headrace/devices/discovery.hpp>
#include <headrace/domains/calibrations.hpp>

#include <string>
#include <vector>

namespace headrace_program {

struct DeviceEntry {
    headrace::DeviceInfo info;
    headrace::Bytes free_memory = 0;
    std::vector<std::string> reaches; ///< ids of those from which it copies without the host
    std::string energy_meter;         ///< what counts its energy; empty: nothing does
    std::string why_no_meter;
};

struct Inventory {
    std::vector<DeviceEntry> devices;
    std::vector<headrace::LeftOut> left_out;
    std::vector<headrace::Calibrations::Entry> calibrations; ///< of this machine

    [[nodiscard]] std::string table() const; ///< for people; several lines
    [[nodiscard]] std::string json() const;  ///< an object; sizes in bytes
};

/// Asks devices that are open.
[[nodiscard]] Inventory take_inventory(const headrace::DeviceSelection& selection);

} // namespace headrace_program
