// apps/barnes_hut/motion.cu - see motion.hpp.
#include "device_code.cuh"
#include "motion.hpp"

#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/transform_iterator.h>

namespace barnes_hut {
namespace {

__global__ void move_bodies(Motion motion) {
    each(0, motion.count, [&](uint32_t i) { motion.move(i); });
}

struct ExtremesOf {
    __device__ Extremes operator()(const Vector& place) const { return Extremes::of(place); }
};
struct Both {
    __device__ Extremes operator()(const Extremes& a, const Extremes& b) const { return a.with(b); }
};

} // namespace

void move_on_cuda(const Motion& motion, const headrace::NativeStream& native) {
    const auto stream = static_cast<cudaStream_t>(native.stream);
    keep_memory(native.ordinal);
    move_bodies<<<blocks_of(native.ordinal), threads, 0, stream>>>(motion);
    std::size_t size = 0;
    const auto reduce = [&](void* scratch) {
        const auto places = thrust::make_transform_iterator(motion.places, ExtremesOf{});
        expect_success(cub::DeviceReduce::Reduce(scratch, size, places, motion.extremes,
                                                 static_cast<int>(motion.count), Both{}, Extremes{}, stream),
                       "cub::DeviceReduce::Reduce");
    };
    reduce(nullptr); // says how much it needs
    const Temporary<char> scratch(size, stream);
    reduce(scratch.get());
    HEADRACE_CALL(GetLastError);
}

} // namespace barnes_hut
