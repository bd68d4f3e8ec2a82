// apps/controller_program/machine.hpp - what a controller program works with: controllers over the devices
// that the user chose, lanes for host tasks, a clock and a report.
#pragma once
#include "controller_program/report.hpp"
#include "program/trace_files.hpp"
#include <headrace/core/trace.hpp>
#include <headrace/domains/cluster/session.hpp>
#include <headrace/headrace.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace controller_program {

/// What every controller program is asked.
struct CommonOptions {
    bool asynchronous = true;
    std::string devices;          ///< see headrace::select_devices; empty: those that go together
    std::filesystem::path report; ///< empty: none
    program::TraceFiles trace;
    bool quiet = false;                                  ///< nothing but errors
    const headrace::cluster::Session* session = nullptr; ///< of ranks that share the work; null: one process
};

/// Leaves out the devices that are not a tenth as fast as the fastest, by their peak figures: programs that
/// give each device its part beforehand would wait for them.
void leave_out_slow(headrace::DeviceSelection& selection);

/// Controllers and lanes in the mode that the user chose.
///
/// Threads   one
/// Lifetime  arrays may end before it; it ends when all requests have
class Machine {
public:
    /// Opens the devices. Errors: as headrace::select_devices
    Machine(std::string program, CommonOptions options);

    [[nodiscard]] bool is_quiet() const noexcept { return options_.quiet; }
    /// Null: this process is alone.
    [[nodiscard]] const headrace::cluster::Session* session() const noexcept { return options_.session; }
    [[nodiscard]] bool is_asynchronous() const noexcept { return options_.asynchronous; }

    [[nodiscard]] std::size_t device_count() const noexcept { return selection_.devices.size(); }
    [[nodiscard]] headrace::Device& device(std::size_t i = 0) { return *selection_.devices.at(i); }
    /// Where the devices' shares of `rows` rows end, by their theoretical speed: device i has the rows from
    /// [i] up to [i + 1], in whole steps of `step` but for the last.
    [[nodiscard]] std::vector<int> ends_of_bands(int rows, int step = 1) const;
    /// The `i`th controller. Devices have one each, in the order in which they were chosen; beyond the last
    /// device it starts again with the first, so that there are as many controllers as a program asks for.
    [[nodiscard]] headrace::Controller& controller(std::size_t i = 0);
    /// The lane of that name; made on first use.
    [[nodiscard]] headrace::HostLane& lane(const std::string& name);

    /// Blocks until everything submitted here has ended; throws the first failure.
    void wait_all();

    /// Runs `work` and waits for all that it has submitted. The report is about what ran in here.
    template <class Work>
    void timed(Work&& work) {
        const Measured before = measure();
        const auto begin = std::chrono::steady_clock::now();
        std::forward<Work>(work)();
        wait_all();
        seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        add_difference(before, measure());
    }

    /// A field of the report: "checksum", "size".
    void report(const std::string& name, Value value) { fields_.set(name, std::move(value)); }
    /// A line below the Gantt chart.
    void caption(std::string text) { caption_ = std::move(text); }
    /// Everything so far.
    [[nodiscard]] Report report() const;
    /// What ran since the machine was made, where and when, into CommonOptions::trace.
    void write_trace() {
        if (!options_.trace.empty()) options_.trace.write(*trace_, caption_);
    }

private:
    /// Sums since the machine was made. Later ones have the same units and controllers in front.
    struct Measured {
        std::vector<headrace::Trace::Unit> units;
        std::vector<headrace::Traffic> traffic; // of controllers
    };
    [[nodiscard]] Measured measure();
    void add_difference(const Measured& before, const Measured& after);

    CommonOptions options_;
    headrace::DeviceSelection selection_;
    std::optional<headrace::Trace> trace_;         // none if nobody will read it; ends before the devices
    std::deque<headrace::Controller> controllers_; // i is on device i % devices
    std::deque<headrace::HostLane> lanes_;         // after the controllers: their tasks may use those
    double seconds_ = 0;
    Measured measured_; // in `timed`
    std::string caption_;
    Report fields_; // what the program has set; the rest is added when somebody asks
};

} // namespace controller_program
