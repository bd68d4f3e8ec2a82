// persistent/detail/on_simt.cuh - the engine as a CUDA or HIP kernel: one lane group per warp or wavefront.
#pragma once
#include <headrace/devices/simt/detail/context.hpp>
#include <headrace/persistent/detail/bound_kernel.hpp>
#include <headrace/persistent/detail/consumer_group.hpp>
#include <headrace/persistent/detail/engine_memory.hpp>
#include <headrace/persistent/detail/lanes_simt.cuh>
#include <headrace/persistent/detail/producers.hpp>

#include <algorithm>
#include <string>

namespace headrace::HEADRACE_ON_SIMT {

template <class Kernel, class Seeds>
struct GroupFor {
    using type = ConsumerGroup<DeviceSync, LanesFor<SimtLanes, Kernel>, Kernel, Seeds>;
};
template <ConsumerProducer Kernel, class Seeds>
struct GroupFor<Kernel, Seeds> {
    using type = typename ProducerFor<DeviceSync, LanesFor<SimtLanes, Kernel>, Kernel, Seeds>::type;
};

/// Four groups of 32 lanes or two of 64: small blocks waste few lanes if registers limit how many are
/// resident. If all lanes of a multiprocessor share local sums: one block that fills it.
template <class Kernel>
constexpr unsigned block_threads() {
    if constexpr (!KeepsLocalSums<Kernel>)
        return 128;
    else if constexpr (requires { Kernel::resident_lanes; })
        return (Kernel::resident_lanes + 63) / 64 * 64;
    else
        return 512;
}

#if defined(__CUDACC__)
    // Parameters stay where the launch put them, even if
    // their addresses are taken: no copy in each thread.
    #define HEADRACE_PARAMETER const __grid_constant__
#else
    #define HEADRACE_PARAMETER const
#endif

/// Resident blocks that the compiler has to save registers for: see kernel.hpp.
template <class Kernel>
constexpr unsigned wanted_blocks() {
    if constexpr (requires { Kernel::resident_lanes; })
        return (Kernel::resident_lanes + block_threads<Kernel>() - 1) / block_threads<Kernel>();
    else
        return 1;
}

#if defined(__CUDACC__)
    #define HEADRACE_LAUNCH_BOUNDS(Kernel) __launch_bounds__(block_threads<Kernel>(), wanted_blocks<Kernel>())
#else
    #define HEADRACE_LAUNCH_BOUNDS(Kernel)                                                                   \
        __launch_bounds__(block_threads<Kernel>()) // the second argument has another meaning in HIP
#endif

/// Every lane group of the grid works until all work is done or all groups pause.
template <class Kernel, class Seeds>
__global__ void HEADRACE_LAUNCH_BOUNDS(Kernel)
    persistent_kernel(HEADRACE_PARAMETER Kernel kernel, HEADRACE_PARAMETER Seeds seeds,
                      HEADRACE_PARAMETER EngineView view, std::uint32_t groups, std::uint32_t local_words,
                      std::uint32_t local_sums) {
    extern __shared__ __align__(16) std::uint32_t local[]; // the LIQ moves up to 16 bytes at once
    const LocalSums sums{local, local_sums};
    if constexpr (KeepsLocalSums<Kernel>) {
        for (std::uint32_t sum = threadIdx.x; sum < local_sums; sum += blockDim.x) local[sum] = 0;
        __syncthreads();
    }
    const std::uint32_t in_block = threadIdx.x / SimtLanes::size;
    const std::uint32_t number = blockIdx.x * (blockDim.x / SimtLanes::size) + in_block;
    if (number < groups) { // all lanes of a group, or none
        typename GroupFor<Kernel, Seeds>::type group(
            LanesFor<SimtLanes, Kernel>{SimtLanes{static_cast<std::uint32_t>(threadIdx.x % SimtLanes::size)}},
            kernel, seeds, view, number, local + local_sums + in_block * local_words, sums);
        run_lane_group(group, kernel);
    }
    if constexpr (KeepsLocalSums<Kernel>) {
        __syncthreads(); // all lanes have added
        sums.hand_over(kernel, threadIdx.x, blockDim.x);
    }
}

template <class Kernel, class Seeds>
class SimtBoundKernel final : public BoundKernel {
    using GroupType = typename GroupFor<Kernel, Seeds>::type;
    static constexpr unsigned threads = block_threads<Kernel>(); ///< of a block
    static_assert(sizeof(Kernel) + sizeof(Seeds) + sizeof(EngineView) + 64 <= 4096,
                  "kernels are passed by value: their views must fit into 4 KB");
    /// Of a LIQ: four of them fit into the 48 KB that every GPU has.
    /// Group kernels spawn little and need the memory for their scratch.
    static constexpr Bytes local_bytes = GroupKernel<Kernel> ? 3 << 10 : 12 << 10;

public:
    SimtBoundKernel(const Kernel& kernel, const Seeds& seeds)
        : kernel_(kernel), seeds_(seeds), image_(kernel, seeds) {}

    EngineShape prepare(const NativeStream& stream, const EngineWishes& wishes) override {
        const int lanes = device_attribute(attribute_lane_group, stream.ordinal),
                  processors = device_attribute(attribute_multiprocessors, stream.ordinal);
        EngineShape shape = queue_shape<GroupType, Kernel>(
            GroupKernel<Kernel> ? GroupType::queue_lanes : static_cast<std::uint32_t>(lanes), wishes,
            local_bytes);
        groups_per_block_ = threads / static_cast<std::uint32_t>(lanes);
        // Not GroupType::scratch: the host's compiler pass does not know the device's wavefront width.
        local_words_ = group_local_words(shape.kinds, shape.unit_words, shape.liq_units,
                                         scratch_words<Kernel>(static_cast<std::uint32_t>(lanes)) +
                                             inbox_list_words<Kernel>(static_cast<std::uint32_t>(lanes)));
        if constexpr (KeepsLocalSums<Kernel>) choose_local_sums(stream);
        const std::uint32_t most =
            resident_blocks(stream, shape) * static_cast<std::uint32_t>(processors) * groups_per_block_;
        shape.groups = wishes.groups != 0 ? std::min(wishes.groups, most) : most;
        return shape;
    }

    void enqueue(const NativeStream& stream, const EngineMemory& memory) override {
        const auto native = static_cast<StreamHandle>(stream.stream);
        const EngineView view = memory.view();
        HEADRACE_CALL(MemcpyAsync, view.control, &memory.image, sizeof(HrControl),
                      HEADRACE_RUNTIME(MemcpyHostToDevice), native);
        launch(native, view, memory.groups, memory.useful);
        HEADRACE_CALL(MemcpyAsync, &memory.image, view.control, sizeof(HrControl),
                      HEADRACE_RUNTIME(MemcpyDeviceToHost), native);
    }

    [[nodiscard]] bool is_same(const BoundKernel& other) const override {
        return type_of(other) == type() && image_ == static_cast<const SimtBoundKernel&>(other).image_;
    }

private:
    [[nodiscard]] const void* type() const noexcept override { return &type_mark<SimtBoundKernel>; }

    /// Spreads few useful groups over the device. A block gets as many as run at the same time at full speed:
    /// one for each of a multiprocessor's schedulers. The other groups of the block leave at once.
    void launch(StreamHandle stream, const EngineView& view, std::uint32_t groups,
                std::uint32_t useful) const {
        constexpr std::uint32_t schedulers = 4;
        const std::uint32_t of_block = std::min(groups_per_block_, schedulers);
        const unsigned blocks = std::min((groups + groups_per_block_ - 1) / groups_per_block_,
                                         (useful + of_block - 1) / of_block);
        persistent_kernel<Kernel, Seeds><<<blocks, threads, shared_bytes(), stream>>>(
            kernel_, seeds_, view, groups, local_words_, local_sums_);
        HEADRACE_CALL(GetLastError);
    }

    /// Resident blocks of a multiprocessor that runs nothing else.
    [[nodiscard]] std::uint32_t resident_blocks(const NativeStream& stream, const EngineShape& shape) const {
        const auto* const kernel = reinterpret_cast<const void*>(&persistent_kernel<Kernel, Seeds>);
        allow_shared_memory(stream, kernel);
        int blocks = 0;
        HEADRACE_CALL(OccupancyMaxActiveBlocksPerMultiprocessor, &blocks, kernel, threads, shared_bytes());
        if (blocks < 1)
            throw Error{ErrorKind::unsupported, "a work unit of " + std::to_string(shape.unit_words * 4) +
                                                    " bytes leaves no room for a lane group's queues"};
        return static_cast<std::uint32_t>(blocks);
    }

    [[nodiscard]] std::size_t shared_bytes() const {
        return std::size_t{4} * (local_sums_ + local_words_ * groups_per_block_);
    }

    /// As many as the block has room for, in whole lines, so that the queues after them are aligned.
    void choose_local_sums(const NativeStream& stream) {
        const auto bytes =
            static_cast<std::uint32_t>(device_attribute(attribute_block_memory, stream.ordinal));
        constexpr std::uint32_t line = LocalSums::least;
        const std::uint32_t room = bytes / 4, queues = local_words_ * groups_per_block_;
        const std::uint32_t lines =
            std::min((kernel_.local_sums() + line - 1) / line, room > queues ? (room - queues) / line : 0);
        local_sums_ = std::max(lines, 1u) * line;
    }

    /// Requests more than 48 KB of shared memory, for the kernel and not for a launch. Requests all that a
    /// block may have. Otherwise another engine that runs the same kernel with less would reduce it.
    void allow_shared_memory(const NativeStream& stream, const void* kernel) const {
        if (shared_bytes() <= 48 << 10) return;
        const int most = device_attribute(attribute_block_memory, stream.ordinal);
        HEADRACE_RUNTIME(FuncAttributes) attributes;
        HEADRACE_CALL(FuncGetAttributes, &attributes, kernel);
        HEADRACE_CALL(FuncSetAttribute, kernel, HEADRACE_RUNTIME(FuncAttributeMaxDynamicSharedMemorySize),
                      most - static_cast<int>(attributes.sharedSizeBytes));
    }

    Kernel kernel_;
    Seeds seeds_;
    KernelImage<Kernel, Seeds> image_;
    std::uint32_t groups_per_block_ = 1;
    std::uint32_t local_words_ = 0; ///< of a group
    std::uint32_t local_sums_ = 0;
};

/// What a generated source returns.
template <class Kernel, class Seeds>
Launcher launcher() {
    return launcher_of<SimtBoundKernel<Kernel, Seeds>, Kernel, Seeds, SimtLanes>();
}

} // namespace headrace::HEADRACE_ON_SIMT
