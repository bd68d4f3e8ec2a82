// apps/headrace/device_findings.cpp - see findings.hpp: what programs find, and whether it computes.
#include "coexec/problems.hpp"
#include "findings.hpp"
#include "inventory.hpp"
#include <headrace/headrace.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace headrace_program {
namespace {

using Level = Finding::Level;

/// A small problem, compared with what one thread finds.
Finding try_out(const headrace::DeviceInfo& info) {
    const std::string device = fmt::format("{} ({}, driver {})", info.id, info.name, info.driver);
    try {
        headrace::Runtime runtime({.devices = info.id});
        coexec::Settings settings;
        settings.size = 4096;
        const auto problem = coexec::make_taylor(settings, runtime);
        runtime.submit(problem->job()).wait();
        problem->collect();
        problem->verify(1).throw_if_wrong();
        return {Level::fine, info.technology, device + " computes"};
    } catch (const headrace::Error& error) {
        return {Level::problem, info.technology, fmt::format("{} does not compute: {}", device, error.what()),
                "install its driver again, the newest; do not use it until then"};
    }
}

/// What of a technology is missing: in order on a machine without such devices.
Finding about_absence(const headrace::LeftOut& out, bool has_hardware) {
    if (!has_hardware) return {Level::fine, out.id, "no such device: " + out.why};
    if (out.why == "not in this build")
        return {Level::problem, out.id, "this build cannot use the GPU that is there",
                "install its compiler (nvcc, hipcc), and build Headrace again"};
    return {Level::problem, out.id, out.why,
            "install a driver that is at least as new as the build's toolkit"};
}

} // namespace

Findings look_at_devices(const Places& places) {
    Findings findings;
    const auto is_there = [&](const char* file) {
        std::error_code ignored;
        return std::filesystem::exists(places.devices / file, ignored);
    };
    Inventory inventory;
    try {
        inventory = take_inventory(headrace::select_devices("all"));
    } catch (const headrace::Error& error) {
        return {{Level::problem, "devices", error.what(), "headrace devices says more"}};
    }
    for (const headrace::LeftOut& out : inventory.left_out) {
        if (out.id == "cuda") {
            findings.push_back(about_absence(out, is_there("nvidiactl")));
        } else if (out.id == "hip") {
            findings.push_back(about_absence(out, is_there("kfd")));
        } else if (out.id == "opencl") {
            findings.push_back({Level::fine, out.id, "no such device: " + out.why});
        } else if (out.why.starts_with("the same hardware as")) {
            findings.push_back({Level::fine, "devices", out.id + " is " + out.why});
        } else {
            findings.push_back({Level::problem, "devices",
                                fmt::format("{} does not start: {}", out.id, out.why),
                                "install its driver again, or leave it out with --devices"});
        }
    }
    for (const DeviceEntry& device : inventory.devices) {
        findings.push_back(try_out(device.info));
        if (device.energy_meter.empty())
            findings.push_back(
                {Level::note, "energy",
                 fmt::format("of {} is not counted: {}", device.info.id, device.why_no_meter)});
    }
    return findings;
}

} // namespace headrace_program
