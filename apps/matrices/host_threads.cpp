// apps/matrices/host_threads.cpp - see host_threads.hpp.
#include "matrices/host_threads.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

namespace matrices {

struct HostThreads::Impl {
    tbb::task_arena arena;
};

HostThreads::HostThreads(unsigned count)
    : impl_(std::make_unique<Impl>(
          Impl{tbb::task_arena(std::min(static_cast<int>(count), tbb::info::default_concurrency()))})) {}
HostThreads::~HostThreads() = default;

void HostThreads::run(unsigned n, const std::function<void(unsigned)>& body) {
    impl_->arena.execute([&] { tbb::parallel_for(0U, n, body, tbb::simple_partitioner{}); });
}

} // namespace matrices
