// core/base/process_mark.cpp - see process_mark.hpp.
#include <headrace/core/detail/process_mark.hpp>

#include <pthread.h>

#include <atomic>
#include <string>

namespace headrace {
namespace {

std::atomic<std::uint64_t> forks = 0; // between the first process and this one

// A counter, because a query of the process id is a system call.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] {
    forks.fetch_add(1, std::memory_order_relaxed); // relaxed everywhere: a child begins with one thread
});

} // namespace

ProcessMark::ProcessMark() noexcept : forks_(forks.load(std::memory_order_relaxed)) {}

bool ProcessMark::is_of_this_process() const noexcept {
    return forks_ == forks.load(std::memory_order_relaxed);
}

void ProcessMark::check(std::string_view what) const {
    if (!is_of_this_process()) throw error(what);
}

Error ProcessMark::error(std::string_view what) {
    return Error{
        ErrorKind::invalid_argument,
        std::string(what) +
            " does not follow a fork(): its threads are in the parent process; make what you need in "
            "the process that uses it"};
}

} // namespace headrace
