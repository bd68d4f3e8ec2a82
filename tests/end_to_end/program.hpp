// tests/end_to_end/program.hpp - runs a program as a user does, and sees what a user sees.
#pragma once
#include <core/hang_limit.hpp>
#include <core/sanitizers.hpp>
#include <core/scratch_folder.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace headrace::end_to_end {

using Seconds = std::chrono::duration<double>;
using Options = std::vector<std::string>; ///< of a program

/// For a shell: what follows has so many GiB of address space. AddressSanitizer maps terabytes, and has no
/// limit.
inline std::string within_memory(int gibibytes) {
    if (test::under_address_sanitizer) return "";
    return "ulimit -v " + std::to_string(gibibytes << 20) + "; export MALLOC_ARENA_MAX=2; ";
}

/// How a program ended.
struct Outcome {
    int exit_code = -1;          ///< -1: it did not exit by itself
    int signal = 0;              ///< what killed it, or 0
    bool timed_out = false;      ///< we killed it, after the deadline
    bool left_processes = false; ///< something that it started still runs
    std::string output;          ///< stdout
    std::string errors;          ///< stderr
    Seconds seconds{};           ///< from start (or from `interrupt`) to end
    std::size_t peak_memory = 0; ///< resident, in bytes
    Seconds processor_time{};    ///< of it and of what it waited for
};

/// Its path has spaces, as those of users may.
struct Scratch : test::ScratchFolder {
    Scratch() : ScratchFolder("headrace end to end ") {}
};

/// A running program. Killed, and waited for, if it still runs when this ends.
class Program {
public:
    /// Starts `executable` with `arguments` in `directory`, with nothing on its stdin. An argument
    /// `test::two_private_cpus` is a device list like others.
    Program(const std::filesystem::path& executable, std::vector<std::string> arguments,
            const std::filesystem::path& directory);
    ~Program();
    Program(const Program&) = delete; // one owner of the process
    Program& operator=(const Program&) = delete;

    /// Sends `signal`; times count from here.
    void interrupt(int signal);
    [[nodiscard]] bool is_running();
    /// Whether it has said what is to happen at `signal`.
    [[nodiscard]] bool handles(int signal) const;
    /// Whether all its threads wait for something.
    [[nodiscard]] bool is_asleep() const;
    /// That its threads have had so far.
    [[nodiscard]] Seconds processor_time() const;
    /// What it wrote so far.
    [[nodiscard]] std::string output_so_far() const;
    [[nodiscard]] std::string errors_so_far() const;
    /// Waits for its end, or kills it at the deadline.
    [[nodiscard]] Outcome wait(Seconds deadline = test::hang_limit);

private:
    bool reap(bool block);

    Scratch captured_; // its stdout and stderr
    pid_t process_ = -1;
    bool ended_ = false;
    int status_ = 0;
    std::size_t peak_memory_ = 0;
    Seconds used_time_{};
    std::chrono::steady_clock::time_point since_;
};

} // namespace headrace::end_to_end
