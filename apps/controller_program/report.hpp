// apps/controller_program/report.hpp - what a run did: in what time, on which devices, with what result.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/devices/candidate.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace controller_program {

/// A field of a program's own. A list has a number for each frame or step.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

struct DevicePart {
    std::string id, name, technology;
    headrace::DeviceKind kind = headrace::DeviceKind::cpu;
    double busy_seconds = 0;                   ///< with a kernel running, by the device's own clock
    std::uint64_t requests = 0;                ///< kernels and transfers
    std::uint64_t bytes_in = 0, bytes_out = 0; ///< moved to the device, and to the host
};

/// What works by itself: a device's kernels, its transfers in one direction, a host lane.
struct UnitPart {
    std::string device, name; ///< "cuda:0" and "to device"; "host" and the lane's name
    std::uint64_t requests = 0;
    double busy_seconds = 0;
};

/// Of what the program measures (Machine::timed). Seconds are wall-clock on the host unless said otherwise.
struct Report {
    std::string program;
    bool asynchronous = true;
    double seconds = 0;
    std::vector<DevicePart> devices;
    std::vector<headrace::LeftOut> left_out;           ///< devices of this machine that took no part, and why
    std::vector<UnitPart> units;                       ///< those that had something to do
    std::vector<std::pair<std::string, Value>> fields; ///< in the order in which they were set

    /// Replaces the field of that name, or adds one.
    void set(const std::string& name, Value value);

    /// The unit that worked longest: nothing goes faster unless it does. Null if none worked.
    [[nodiscard]] const UnitPart* bottleneck() const;
    /// The share of the time that it worked. Source: Torres et al., "Supporting efficient overlapping of
    /// host-device operations for heterogeneous programming with CtrlEvents", JPDC 2023, sec. 6
    [[nodiscard]] double bottleneck_share() const;

    [[nodiscard]] std::string table() const; ///< for people; several lines
    [[nodiscard]] std::string json() const;  ///< an object; `fields` are among its members
};

} // namespace controller_program
