// core/base/compiling.cpp - see compiling.hpp.
#include <headrace/internal/core/compiling.hpp>

#include <algorithm>
#include <mutex>
#include <set>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

struct State {
    std::mutex mutex;
    std::multiset<Clock::time_point> under_way; ///< begin of each compilation
    Clock::time_point last_end = Clock::time_point::min();
};

State& state() {
    static State only;
    return only;
}

} // namespace

Compiling::Compiling() : begin_(Clock::now()) {
    const std::lock_guard lock(state().mutex);
    state().under_way.insert(begin_);
}

Compiling::~Compiling() {
    const std::lock_guard lock(state().mutex);
    auto& under_way = state().under_way;
    under_way.erase(under_way.find(begin_));
    state().last_end = std::max(state().last_end, std::min(Clock::now(), begin_ + longest));
}

Clock::time_point Compiling::last_sign() {
    const std::lock_guard lock(state().mutex);
    const auto& under_way = state().under_way;
    if (under_way.empty()) return state().last_end;
    return std::max(state().last_end, std::min(Clock::now(), *under_way.rbegin() + longest));
}

} // namespace headrace
