// core/compiling.cpp - see compiling.hpp.
#include <headrace/core/compiling.hpp>

#include <mutex>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

struct State {
    std::mutex mutex;
    unsigned under_way = 0;
    Clock::time_point last_end = Clock::time_point::min();
};

State& state() {
    static State only;
    return only;
}

} // namespace

Compiling::Compiling() {
    const std::lock_guard lock(state().mutex);
    ++state().under_way;
}

Compiling::~Compiling() {
    const std::lock_guard lock(state().mutex);
    --state().under_way;
    state().last_end = Clock::now();
}

Clock::time_point Compiling::last_sign() {
    const std::lock_guard lock(state().mutex);
    return state().under_way > 0 ? Clock::now() : state().last_end;
}

} // namespace headrace
