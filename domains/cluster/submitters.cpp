// domains/cluster/submitters.cpp - see submitters.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/submitters.hpp>

#include <fmt/format.h>

#include <atomic>
#include <utility>

namespace headrace::cluster {
namespace {

/// Numbers of threads have 32 bits.
constexpr std::uint64_t function_bit = std::uint64_t{1} << 63;

std::optional<std::uint64_t>& submitter_of_thread() {
    thread_local std::optional<std::uint64_t> submitter;
    return submitter;
}

/// Of this thread alone, unlike a std::thread::id, which a later thread may get again.
std::uint64_t number_of_thread() {
    static std::atomic<std::uint64_t> threads = 0;
    thread_local const std::uint64_t number = ++threads;
    return number;
}

/// SplitMix64 (Steele, Lea, Flood 2014): a change of one bit changes each other bit with probability 1/2.
std::uint64_t mixed(std::uint64_t bits) {
    bits += 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

} // namespace

SubmitterScope::SubmitterScope(std::uint64_t submitter)
    : outer_(std::exchange(submitter_of_thread(), submitter)) {}
SubmitterScope::~SubmitterScope() { submitter_of_thread() = outer_; }

std::uint64_t Submitters::current() {
    if (submitter_of_thread()) return *submitter_of_thread();
    if (!without_number_) without_number_ = number_of_thread();
    return *without_number_ == number_of_thread() ? 0 : no_submitter;
}

void Submitters::expect_admitted(std::uint64_t submitter) const {
    if (submitter == no_submitter)
        throw Error{
            ErrorKind::invalid_argument,
            "the ranks do not know what submits this job, or makes this call: a second thread needs a "
            "headrace::cluster::ThreadNumber, or the thread that called `then` for this function "
            "does; tasks cannot submit jobs that ranks share"};
    if (only_ && *only_ != submitter)
        throw Error{ErrorKind::invalid_argument,
                    "where ranks go on after losses, one thread submits all jobs that they share"};
}

CallNumber Submitters::next(Call call) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t submitter = current();
    expect_admitted(submitter);
    return {generation_, calls_[{submitter, call}]++, submitter};
}

std::uint64_t Submitters::next_function() {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t submitter = current();
    if (submitter == no_submitter) return no_submitter;
    const std::uint64_t ordinal = calls_[{submitter, Call::function}]++;
    return mixed(mixed(submitter) + (std::uint64_t{generation_} << 32 | ordinal)) | function_bit;
}

void Submitters::forget_function(std::uint64_t function) noexcept {
    const std::scoped_lock lock(mutex_);
    for (const Call call : {Call::exchange, Call::job, Call::function, Call::run})
        calls_.erase({function, call});
}

void Submitters::admit_only_this() {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t submitter = current();
    expect_admitted(submitter);
    only_ = submitter;
}

void Submitters::begin_generation(std::uint32_t generation) {
    const std::scoped_lock lock(mutex_);
    generation_ = generation;
    std::erase_if(calls_, [](const auto& calls) { return calls.first.second != Call::run; });
}

void Submitters::forget_thread() {
    const std::scoped_lock lock(mutex_);
    without_number_.reset();
}

void Submitters::enter(std::uint64_t thread) {
    const std::scoped_lock lock(mutex_);
    if (thread == 0)
        throw Error{ErrorKind::invalid_argument, "0 is the number of the thread that has no ThreadNumber"};
    if (!threads_.insert(thread).second)
        throw Error{ErrorKind::invalid_argument,
                    fmt::format("another thread of this rank has the ThreadNumber {}", thread)};
}

void Submitters::leave(std::uint64_t thread) noexcept {
    const std::scoped_lock lock(mutex_);
    threads_.erase(thread);
}

} // namespace headrace::cluster
