// apps/controller_program/machine.cpp - see machine.hpp.
#include "controller_program/machine.hpp"

#include <algorithm>
#include <cmath>

namespace controller_program {

using headrace::Controller;
using headrace::HostLane;

void leave_out_slow(headrace::DeviceSelection& selection) {
    double fastest = 0;
    for (const auto& each : selection.devices) fastest = std::max(fastest, each->info().peak_gflops);
    for (std::size_t i = selection.devices.size(); i-- > 0;) {
        const headrace::DeviceInfo& info = selection.devices[i]->info();
        if (info.peak_gflops >= fastest / 10) continue;
        selection.left_out.push_back(
            {info.id, info.name, "not a tenth as fast as the fastest; --devices names it"});
        selection.devices.erase(selection.devices.begin() + static_cast<std::ptrdiff_t>(i));
        selection.controllers.erase(selection.controllers.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

namespace {

/// A device has several controllers, of three streams each.
headrace::DeviceSelection open_for_controllers(const std::string& devices) {
    headrace::expect_streams(32);
    return headrace::select_devices(devices);
}

} // namespace

Machine::Machine(std::string program, CommonOptions options)
    : options_(std::move(options)), selection_(open_for_controllers(options_.devices)) {
    if (selection_.by_default) leave_out_slow(selection_);
    if (options_.session != nullptr) options_.session->keep_own_devices(options_.devices, selection_);
    fields_.program = std::move(program);
    fields_.asynchronous = options_.asynchronous;
    options_.trace.begin(trace_);
    if (!trace_ && (!options_.quiet || !options_.report.empty()))
        trace_.emplace(headrace::Trace::Keep::totals);
    static_cast<void>(controller(device_count() - 1));
}

std::vector<int> Machine::ends_of_bands(int rows, int step) const {
    std::vector<double> speed_up_to{0};
    for (const auto& each : selection_.devices)
        speed_up_to.push_back(speed_up_to.back() + std::max(1.0, each->info().peak_gflops));
    std::vector<int> ends;
    for (const double speed : speed_up_to) {
        const auto steps = static_cast<int>(std::lround(rows * speed / speed_up_to.back() / step));
        ends.push_back(std::min(steps * step, rows));
    }
    ends.back() = rows;
    return ends;
}

Controller& Machine::controller(std::size_t i) {
    while (controllers_.size() <= i) {
        const std::size_t on = controllers_.size() % device_count();
        headrace::ControllerOptions how = selection_.controllers.at(on);
        how.asynchronous = options_.asynchronous;
        controllers_.emplace_back(device(on), how);
    }
    return controllers_[i];
}

HostLane& Machine::lane(const std::string& name) {
    const auto same = std::ranges::find(lanes_, name, &HostLane::name);
    if (same != lanes_.end()) return *same;
    HostLane& made = lanes_.emplace_back(name);
    made.set_asynchronous(options_.asynchronous);
    return made;
}

void Machine::wait_all() {
    for (Controller& each : controllers_) each.wait_all();
    for (HostLane& each : lanes_) each.wait_all();
}

Machine::Measured Machine::measure() {
    Measured all;
    if (trace_) all.units = trace_->units();
    for (const Controller& each : controllers_) all.traffic.push_back(each.traffic());
    return all;
}

void Machine::add_difference(const Measured& before, const Measured& after) {
    measured_.units.resize(after.units.size());
    for (std::size_t i = 0; i < after.units.size(); ++i) {
        const headrace::Trace::Unit since =
            i < before.units.size() ? before.units[i] : headrace::Trace::Unit{};
        measured_.units[i].device = after.units[i].device;
        measured_.units[i].name = after.units[i].name;
        measured_.units[i].requests += after.units[i].requests - since.requests;
        measured_.units[i].busy += after.units[i].busy - since.busy;
    }
    measured_.traffic.resize(after.traffic.size());
    for (std::size_t i = 0; i < after.traffic.size(); ++i) {
        const headrace::Traffic since = i < before.traffic.size() ? before.traffic[i] : headrace::Traffic{};
        measured_.traffic[i].in += after.traffic[i].in - since.in;
        measured_.traffic[i].out += after.traffic[i].out - since.out;
    }
}

Report Machine::report() const {
    Report report = fields_;
    report.seconds = seconds_;
    report.left_out = selection_.left_out;
    for (const auto& each : selection_.devices) {
        const headrace::DeviceInfo& info = each->info();
        report.devices.push_back(
            {.id = info.id, .name = info.name, .technology = info.technology, .kind = info.kind});
    }
    for (std::size_t i = 0; i < measured_.traffic.size(); ++i) {
        report.devices[i % device_count()].bytes_in += measured_.traffic[i].in;
        report.devices[i % device_count()].bytes_out += measured_.traffic[i].out;
    }
    for (const headrace::Trace::Unit& unit : measured_.units) {
        if (unit.requests == 0 || unit.is_made_of_requests()) continue;
        const double busy = std::chrono::duration<double>(unit.busy).count();
        report.units.push_back({unit.device, unit.name, unit.requests, busy});
        const auto device = std::ranges::find(report.devices, unit.device, &DevicePart::id);
        if (device == report.devices.end()) continue; // the host
        device->requests += unit.requests;
        if (unit.name == "kernels") device->busy_seconds += busy;
    }
    return report;
}

} // namespace controller_program
