// apps/barnes_hut/own_process.cpp - see own_process.hpp.
#include "own_process.hpp"
#include <headrace/core/error.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace barnes_hut {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

constexpr int refused = 2; ///< exit code: why is in the pipe of messages

[[noreturn]] void fail(const char* call) {
    throw Error{ErrorKind::io, std::string(call) + ": " + std::generic_category().message(errno)};
}

struct Pipe {
    std::array<int, 2> ends{-1, -1};

    Pipe() {
        if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
    }
    ~Pipe() {
        for (const int end : ends)
            if (end >= 0) close(end);
    }
    Pipe(const Pipe&) = delete; // owns the ends
    Pipe& operator=(const Pipe&) = delete;

    File take(unsigned end, const char* mode) {
        close(ends[1 - end]);
        File file(fdopen(ends[end], mode), &std::fclose);
        if (!file) fail("fdopen");
        ends = {-1, -1};
        return file;
    }
};

void limit_child(std::chrono::seconds limit) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto seconds = static_cast<rlim_t>(limit.count());
    const rlimit time{seconds, seconds + 1}, no_core{0, 0};
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_CORE, &no_core);
    // What libraries print before they abort says nothing to users.
    if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
}

/// The child. Leaves without what the parent has to do at its end.
[[noreturn]] void run_child(const std::function<void(std::FILE*)>& make, File data, const File& message) {
    try {
        make(data.get());
        _exit(std::fclose(data.release()) == 0 ? 0 : 1);
    } catch (const Error& error) {
        std::fputc(static_cast<int>(error.kind()), message.get());
        std::fputs(error.message().c_str(), message.get());
        std::fflush(message.get());
        _exit(refused);
    } catch (const std::exception&) {
        _exit(1);
    }
}

/// Ends the child if this process stops listening to it.
class Child {
public:
    explicit Child(pid_t process) : process_(process) {}
    ~Child() {
        if (process_ <= 0) return;
        kill(process_, SIGKILL);
        wait();
    }
    Child(const Child&) = delete; // waits once
    Child& operator=(const Child&) = delete;
    int wait() {
        int status = 0;
        while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = 0;
        return status;
    }

private:
    pid_t process_;
};

} // namespace

void in_own_process(const std::function<void(std::FILE* to)>& make,
                    const std::function<void(std::FILE* from)>& take, const std::string& broken,
                    std::chrono::seconds limit) {
    Pipe data, message;
    const pid_t process = fork();
    if (process < 0) fail("fork");
    if (process == 0) {
        limit_child(limit);
        run_child(make, data.take(1, "w"), message.take(1, "w"));
    }
    Child child(process);
    const File from = data.take(0, "r"), why = message.take(0, "r");
    take(from.get());
    while (std::fgetc(from.get()) != EOF) {
    } // or the child could not end
    const int status = child.wait();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const int kind = std::fgetc(why.get());
    if (!WIFEXITED(status) || WEXITSTATUS(status) != refused || kind == EOF)
        throw Error{ErrorKind::invalid_argument, broken};
    std::string text;
    for (int letter = 0; (letter = std::fgetc(why.get())) != EOF;) text += static_cast<char>(letter);
    throw Error{static_cast<ErrorKind>(kind), text};
}

} // namespace barnes_hut
