// apps/python/session.cpp - see session.hpp.
#include "session.hpp"

#include <pybind11/pybind11.h>

#include <chrono>
#include <optional>
#include <utility>

namespace headrace::python {
namespace {

/// How often a thread that waits looks whether Ctrl-C was pressed.
constexpr std::chrono::milliseconds between_looks{50};

} // namespace

void check_signals() {
    const pybind11::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

Session::Session(RuntimeOptions options) : options_(std::move(options)) {}

Session::~Session() {
    std::optional<pybind11::gil_scoped_release> no_gil; // a runtime's threads end first
    if (PyGILState_Check() != 0) no_gil.emplace();
    close();
}

Runtime& Session::runtime() {
    const std::lock_guard lock(mutex_);
    if (is_closed_) throw Error{ErrorKind::invalid_argument, "the session is closed; make another one"};
    if (!runtime_) runtime_ = std::make_unique<Runtime>(options_);
    return *runtime_;
}

JobReport Session::run(const Job& job) {
    const JobHandle handle = runtime().submit(job);
    while (!handle.wait_for(between_looks)) {
        try {
            check_signals();
        } catch (const pybind11::error_already_set&) {
            handle.cancel();
            try {
                handle.wait();       // what its kernels borrow goes when this returns
            } catch (const Error&) { // cancelled, or failed: Ctrl-C is what is told
            }
            throw;
        }
    }
    handle.wait();
    return handle.report();
}

void Session::with_machine(const std::function<void(controller_program::Machine&)>& work) {
    const std::lock_guard one_at_a_time(machine_is_used_);
    {
        const std::lock_guard lock(mutex_);
        if (is_closed_) throw Error{ErrorKind::invalid_argument, "the session is closed; make another one"};
        if (!machine_) {
            controller_program::CommonOptions options;
            options.devices = options_.devices;
            options.quiet = true;
            machine_ = std::make_unique<controller_program::Machine>("headrace", options);
        }
    }
    work(*machine_);
    check_signals();
}

void Session::close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    machine_.reset();
    runtime_.reset();
}

} // namespace headrace::python
