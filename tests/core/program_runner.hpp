// tests/core/program_runner.hpp - runs a program of requests on controllers, and compares everything that can
// be seen of it with the serial model.
#pragma once
#include <headrace/core/controller.hpp>

#include <core/random_program.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::test {

/// Devices with controllers and host lanes, as a test puts them together.
class ProgramMachine {
public:
    /// A part of a datum, and how a kernel uses it.
    struct Part {
        Storage* storage;
        Bytes begin, end;
        Access access;
    };
    /// A kernel of a test: `words` by part, at its begin.
    using Body = std::function<void(const std::vector<Word*>& words)>;

    ProgramMachine() = default;
    virtual ~ProgramMachine() = default;
    ProgramMachine(const ProgramMachine&) = delete; // programs hold its address
    ProgramMachine& operator=(const ProgramMachine&) = delete;

    [[nodiscard]] const Topology& topology() const { return topology_; }
    [[nodiscard]] Controller& controller(unsigned i) { return *controllers_.at(i); }
    [[nodiscard]] HostLane& lane(unsigned i) { return lanes_.at(i); }

    /// Ends the controller and puts a new one in its place.
    void renew_controller(unsigned i);
    /// Submits a kernel that calls `body`; once it has thrown, the kernel fails.
    virtual Event kernel(unsigned controller, const std::vector<Part>& parts, std::span<const TileUse> uses,
                         Body body) = 0;
    /// Called at the begin of a host task.
    virtual void host_task_begins() {}
    /// Between the two, whoever submits runs ahead of what it has submitted, where the machine can do that.
    virtual void hold() {}
    virtual void let_go() {}

protected:
    /// In order, by constructors of derived classes.
    Device& add_device(std::unique_ptr<Device> device);
    void add_controller(Device& device, ControllerOptions options);
    void add_lanes(unsigned count);

private:
    struct Place {
        Device* device;
        ControllerOptions options;
    };
    std::vector<std::unique_ptr<Device>> devices_; // first: the controllers use them
    std::vector<Place> places_;
    std::vector<std::unique_ptr<Controller>> controllers_;
    std::deque<HostLane> lanes_;
    Topology topology_;
};

struct RunOptions {
    std::string prefix = {}; ///< of the names of data
    bool alone = true;       ///< nobody else uses the machine
    std::uint64_t seed = 0;  ///< of what is no part of the program: where it is held
};

/// What went otherwise than the model says; empty: nothing. Waits for all that it submitted.
[[nodiscard]] std::vector<std::string> run_and_compare(const Program& program, ProgramMachine& machine,
                                                       const RunOptions& options);

/// Gathers the names of data of which a warning was logged while it lives.
class WarnedNames {
public:
    WarnedNames();
    ~WarnedNames();
    WarnedNames(const WarnedNames&) = delete; // the log holds its address
    WarnedNames& operator=(const WarnedNames&) = delete;
    /// How many times since last asked.
    [[nodiscard]] static unsigned take(const std::string& name);
};

} // namespace headrace::test
