// tests/persistent/thread_bench.hpp - an engine whose groups are host threads.
#pragma once
#include "expected.hpp"
#include "thread_kernels.hpp"

#include <headrace/persistent/engine.hpp>

namespace headrace::test {

/// One engine for one kernel on threads.
template <class Config, class Kernel, class Seeds, class StreamType = ThreadStream>
struct Bench {
    ThreadDevice device;
    StreamType stream;
    ArrivalTable arrived;
    Engine engine;

    Bench(Kernel kernel, const Seeds& seeds, const EngineOptions& options)
        : engine(device, stream, bind(kernel, seeds, arrived), options) {}

    static std::unique_ptr<BoundKernel> bind(Kernel kernel, const Seeds& seeds, ArrivalTable& table) {
        return bind_on_threads<Config>(kernel, seeds, table.view());
    }
};

} // namespace headrace::test
