// tests/core/random_program.hpp - random programs of requests as plain data: made from a seed, printed, cut
// down to what matters when one fails.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/detail/transfers.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headrace::test {

using Word = std::uint32_t;

/// What the coherence rules ask about a machine: the controllers are replicas 1, 2, ... of every datum.
struct Topology {
    std::vector<bool> in_place; ///< by controller: kernels work on the host replica
    std::vector<ReplicaSet>
        reachable;      ///< by controller: replicas that come to it without passing by the host
    unsigned lanes = 0; ///< host lanes beside those of the controllers

    [[nodiscard]] unsigned controllers() const { return static_cast<unsigned>(in_place.size()); }
    [[nodiscard]] ReplicaNumber replica(unsigned controller) const {
        return in_place[controller] ? host_replica : ReplicaNumber{controller} + 1;
    }
};

enum class HostSide : std::uint8_t { owned, borrowed, from_device, internal };

struct DatumSpec {
    unsigned words;
    HostSide host;
};

/// A range of a datum, and how a request uses it.
struct Range {
    unsigned datum, begin, end; ///< in words
    Access access = Access::read;
};

enum class What : std::uint8_t {
    kernel,
    host_task, ///< `on` counts the lanes first, then the controllers
    prefetch,
    move_to,
    move_from,
    gather,
    host_wrote,
    wait,
    wait_all, ///< the same
    release,
    renew_datum,
    renew_controller,
    set_mode,
};

/// What is made to go wrong: the kernel or host task itself, or what it has copied on its way.
enum class Fault : std::uint8_t { none, body, copy_in, copy_out, copy_peer };

struct Step {
    What what;
    unsigned on = 0;
    std::vector<Range> ranges;
    Fault fault = Fault::none;
    bool asynchronous = true; ///< for set_mode
};

struct Program {
    std::vector<DatumSpec> data;
    unsigned stride = 1;  ///< words of memory for each that is used: large data at the price of small ones
    bool windows = false; ///< see Mix
    std::vector<Step> steps;
};

/// How much goes wrong, and what may be asked of the machine.
struct Mix {
    unsigned steps = 24;
    unsigned stride = 1; ///< see Program
    unsigned data = 4;   ///< at most
    /// Data go to the host when devices are full: nothing in the program depends on where they are.
    bool full_devices = false;
    bool windows = false; ///< devices hold no more of a datum than a request needs
    bool body_faults = true;
    bool copy_faults = true; ///< of a machine that can make copies fail
};

[[nodiscard]] Program random_program(std::uint64_t seed, const Topology& topology, const Mix& mix);

/// One line for a step, and the whole program, as a person would write it down.
[[nodiscard]] std::string describe(const Step& step, const Program& program, const Topology& topology);
[[nodiscard]] std::string describe(const Program& program, const Topology& topology);

/// A smaller program that `fails` too: takes away steps, in halves first, while what is left still fails.
[[nodiscard]] Program shrink(Program program, const std::function<bool(const Program&)>& fails);

/// What every kernel and host task does, here and in the model: sums up what it may read, and makes of the
/// sum what it writes, so that one wrong word spoils all that comes after it.
///
/// `words`    by range, at its begin; one in `stride` is used
/// `defined`  by range: which of them hold a value that program order determines
/// Returns the sum.
std::uint64_t compute(std::uint64_t number, const std::vector<Range>& ranges, const std::vector<Word*>& words,
                      const std::vector<std::vector<bool>>& defined, unsigned stride = 1);

/// True if `compute` gives word `i` of the range a value.
[[nodiscard]] bool gives_a_value(std::uint64_t number, const Range& range, unsigned i, bool defined);

} // namespace headrace::test
