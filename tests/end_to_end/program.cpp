// tests/end_to_end/program.cpp - see program.hpp.
#include "end_to_end/program.hpp"

#include <core/eventually.hpp>
#include <core/waiting_call.hpp>
#include <devices/two_private_cpus.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headrace::end_to_end {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void check(int code, const char* call) {
    if (code != 0) throw std::system_error(code, std::generic_category(), call);
}

std::string read_all(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// What posix_spawn is told: a process group of its own, and where its three files are.
struct Attributes {
    Attributes() {
        check(posix_spawnattr_init(&value), "posix_spawnattr_init");
        check(posix_spawnattr_setflags(&value, POSIX_SPAWN_SETPGROUP), "posix_spawnattr_setflags");
    }
    ~Attributes() { posix_spawnattr_destroy(&value); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    posix_spawnattr_t value;
};

struct FileActions {
    FileActions() { check(posix_spawn_file_actions_init(&value), "posix_spawn_file_actions_init"); }
    ~FileActions() { posix_spawn_file_actions_destroy(&value); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    posix_spawn_file_actions_t value;
};

} // namespace

Program::Program(const fs::path& executable, std::vector<std::string> arguments, const fs::path& directory) {
    Attributes attributes;
    FileActions actions;
    const auto open = [&](int descriptor, const fs::path& file, int flags) {
        check(posix_spawn_file_actions_addopen(&actions.value, descriptor, file.c_str(), flags, 0600),
              "posix_spawn_file_actions_addopen");
    };
    open(0, "/dev/null", O_RDONLY);
    open(1, captured_.path() / "stdout", O_WRONLY | O_CREAT);
    open(2, captured_.path() / "stderr", O_WRONLY | O_CREAT);
    check(posix_spawn_file_actions_addchdir_np(&actions.value, directory.c_str()),
          "posix_spawn_file_actions_addchdir_np");

    std::string name = executable.string();
    std::vector<char*> argv{name.data()};
    for (std::string& argument : arguments) argv.push_back((argument = test::device_list(argument)).data());
    argv.push_back(nullptr);
    since_ = Clock::now();
    check(posix_spawn(&process_, name.c_str(), &actions.value, &attributes.value, argv.data(), environ),
          name.c_str());
}

Program::~Program() {
    if (!ended_) {
        ::kill(process_, SIGKILL);
        reap(true);
    }
}

bool Program::reap(bool block) {
    if (ended_) return true;
    pid_t got = 0;
    rusage used{};
    do got = wait4(process_, &status_, block ? 0 : WNOHANG, &used);
    while (got < 0 && errno == EINTR);
    if (got < 0) check(errno, "wait4");
    ended_ = got == process_;
    if (ended_) {
        peak_memory_ = static_cast<std::size_t>(used.ru_maxrss) << 10;
        const auto seconds = [](const timeval& time) {
            return Seconds{static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec)};
        };
        used_time_ = seconds(used.ru_utime) + seconds(used.ru_stime);
    }
    return ended_;
}

void Program::interrupt(int signal) {
    since_ = Clock::now();
    if (!reap(false)) ::kill(process_, signal);
}

bool Program::is_running() { return !reap(false); }

bool Program::handles(int signal) const {
    std::istringstream status(read_all(fs::path("/proc") / std::to_string(process_) / "status"));
    for (std::string word; status >> word;) {
        unsigned long long caught = 0; // a bit for each signal, from 1
        if (word == "SigCgt:" && status >> std::hex >> caught) return (caught >> (signal - 1) & 1) != 0;
    }
    return false;
}

bool Program::is_asleep() const {
    std::error_code gone;
    const fs::directory_iterator threads(fs::path("/proc") / std::to_string(process_) / "task", gone);
    return std::all_of(begin(threads), end(threads),
                       [](const auto& thread) { return test::is_asleep(thread.path()); });
}

Seconds Program::processor_time() const {
    const std::string stat = read_all(fs::path("/proc") / std::to_string(process_) / "stat");
    std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size()))); // after the name
    std::string skipped;
    for (int field = 3; field < 14; ++field) fields >> skipped;
    double user = 0, system = 0; // in ticks
    fields >> user >> system;
    return Seconds{(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK))};
}

std::string Program::output_so_far() const { return read_all(captured_.path() / "stdout"); }
std::string Program::errors_so_far() const { return read_all(captured_.path() / "stderr"); }

Outcome Program::wait(Seconds deadline) {
    Outcome outcome;
    const auto end = since_ + std::chrono::duration_cast<Clock::duration>(deadline);
    if (!test::eventually([this] { return reap(false); }, end - Clock::now())) {
        outcome.timed_out = true;
        ::kill(process_, SIGKILL);
        reap(true);
    }
    outcome.seconds = Clock::now() - since_;
    outcome.peak_memory = peak_memory_;
    outcome.processor_time = used_time_;
    // Its group is its own, so whoever still answers to it is a process that it left behind.
    outcome.left_processes = ::kill(-process_, 0) == 0;
    if (WIFEXITED(status_)) outcome.exit_code = WEXITSTATUS(status_);
    if (WIFSIGNALED(status_)) outcome.signal = WTERMSIG(status_);
    outcome.output = output_so_far();
    outcome.errors = errors_so_far();
    return outcome;
}

} // namespace headrace::end_to_end
