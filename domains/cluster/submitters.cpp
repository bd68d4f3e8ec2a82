// domains/cluster/submitters.cpp - see submitters.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/submitters.hpp>

#include <fmt/format.h>

#include <string_view>

namespace headrace::cluster {
namespace {

/// Numbers of threads have 32 bits.
constexpr std::uint64_t function_bit = std::uint64_t{1} << 63;

std::optional<std::uint64_t>& submitter_of_thread() {
    thread_local std::optional<std::uint64_t> submitter;
    return submitter;
}

/// SplitMix64 (Steele, Lea, Flood 2014): a change of any bit changes all others by chance.
std::uint64_t mixed(std::uint64_t bits) {
    bits += 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

std::string_view verb_of(Submitters::Call call) {
    return call == Submitters::Call::job ? "submits a job" : "makes a call";
}

} // namespace

SubmitterScope::SubmitterScope(std::optional<std::uint64_t> submitter) : outer_(submitter_of_thread()) {
    submitter_of_thread() = submitter;
}
SubmitterScope::~SubmitterScope() { submitter_of_thread() = outer_; }

std::optional<std::uint64_t> Submitters::current() {
    if (submitter_of_thread()) return submitter_of_thread();
    if (!without_number_) without_number_ = std::this_thread::get_id();
    if (*without_number_ != std::this_thread::get_id()) return std::nullopt;
    return 0;
}

CallNumber Submitters::next(Call call) {
    const std::scoped_lock lock(mutex_);
    const auto submitter = current();
    if (!submitter)
        throw Error{
            ErrorKind::invalid_argument,
            fmt::format("a second thread {} that all ranks share, and has no number by which the ranks know "
                        "it: it needs a headrace::cluster::ThreadNumber. A task cannot have one",
                        verb_of(call))};
    return {generation_, calls_[{*submitter, call}]++, *submitter};
}

std::optional<std::uint64_t> Submitters::next_function() {
    const std::scoped_lock lock(mutex_);
    const auto submitter = current();
    if (!submitter) return std::nullopt;
    const std::uint64_t ordinal = calls_[{*submitter, Call::function}]++;
    return mixed(mixed(*submitter) + (std::uint64_t{generation_} << 32 | ordinal)) | function_bit;
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
