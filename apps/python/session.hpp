// apps/python/session.hpp - devices that stay open, and jobs on them for which a Python thread waits.
#pragma once
#include "controller_program/machine.hpp"
#include <headrace/headrace.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace headrace::python {

/// The devices of one headrace.Session.
///
/// Threads   any, without the GIL unless said
class Session {
public:
    explicit Session(RuntimeOptions options);
    ~Session(); ///< with or without the GIL
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Opens the devices at the first call. Errors  of headrace::Runtime; invalid_argument after close()
    [[nodiscard]] Runtime& runtime();
    /// Runs a job to its end. Ctrl-C cancels it, and throws pybind11::error_already_set.
    JobReport run(const Job& job);
    /// Calls `work` with controllers of the devices, which are made for the first call; one call at a time.
    /// Ctrl-C is heard when `work` has returned.
    void with_machine(const std::function<void(controller_program::Machine&)>& work);
    /// Closes the devices. Not while something runs.
    void close();

private:
    const RuntimeOptions options_;
    std::mutex mutex_; ///< of the following
    bool is_closed_ = false;
    std::unique_ptr<Runtime> runtime_;
    std::unique_ptr<controller_program::Machine> machine_;
    std::mutex machine_is_used_;
};

/// Throws pybind11::error_already_set if a signal has come that Python's program wants to hear of. Takes the
/// GIL for a moment.
void check_signals();

} // namespace headrace::python
