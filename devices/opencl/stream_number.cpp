// devices/opencl/stream_number.cpp - see stream_number.hpp.
#include "opencl/stream_number.hpp"

#include <memory>
#include <mutex>
#include <set>

namespace headrace::opencl {
namespace {

struct Taken {
    std::mutex mutex;
    std::set<int> numbers;
};
// Never destroyed: streams may be destroyed while the process ends.
Taken& taken() {
    static auto* const instance = std::make_unique<Taken>().release();
    return *instance;
}

} // namespace

/// The smallest free number: the programs of the first few numbers are already built, in memory or on disk.
StreamNumber::StreamNumber() : number_(1) {
    const std::scoped_lock lock(taken().mutex);
    while (!taken().numbers.insert(number_).second) ++number_;
}

StreamNumber::~StreamNumber() {
    if (is_kept_) return;
    const std::scoped_lock lock(taken().mutex);
    taken().numbers.erase(number_);
}

} // namespace headrace::opencl
