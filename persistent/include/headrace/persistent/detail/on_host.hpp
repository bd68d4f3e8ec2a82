// persistent/detail/on_host.hpp - the engine on host threads: one lane group per thread.
#pragma once
#include <headrace/persistent/detail/bound_kernel.hpp>
#include <headrace/persistent/detail/consumer_group.hpp>
#include <headrace/persistent/detail/engine_memory.hpp>
#include <headrace/persistent/detail/lanes_host.hpp>
#include <headrace/persistent/detail/producers.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace headrace::on_cpu {

template <class Sync, class Lanes, class Kernel, class Seeds>
struct GroupFor {
    using type = ConsumerGroup<Sync, Lanes, Kernel, Seeds>;
};
template <class Sync, class Lanes, ConsumerProducer Kernel, class Seeds>
struct GroupFor<Sync, Lanes, Kernel, Seeds> {
    using type = typename ProducerFor<Sync, Lanes, Kernel, Seeds>::type;
};

/// A kernel bound for host threads. `Runner` provides the threads:
///     static unsigned threads(const NativeStream&);
///     // calls body(i) for each i < n
///     static void run(const NativeStream&, unsigned n, const std::function<void(unsigned)>& body);
/// run() rethrows the first exception. Bodies may run one after the
/// other, in any order: no group waits for a group that has not begun. `Sync`: HostSync, or what a test
/// derives from it to set the clock.
template <class Kernel, class Seeds, class Lanes, class Runner, class Sync>
class HostBoundKernel final : public BoundKernel {
    using KernelLanes = LanesFor<Lanes, Kernel>;
    using GroupType = typename GroupFor<Sync, KernelLanes, Kernel, Seeds>::type;
    static constexpr Bytes local_bytes = 64 << 10; // of a LIQ, which should stay in a core's own cache

public:
    HostBoundKernel(const Kernel& kernel, const Seeds& seeds)
        : kernel_(kernel), seeds_(seeds), image_(kernel, seeds) {}

    EngineShape prepare(const NativeStream& stream, const EngineWishes& wishes) override {
        EngineShape shape = queue_shape<GroupType, Kernel>(GroupType::queue_lanes, wishes, local_bytes);
        shape.groups = Runner::threads(stream);
        if (wishes.groups != 0 && wishes.groups < shape.groups) shape.groups = wishes.groups;
        shape.least_claim = 1; // for heavy units: pace.hpp
        local_.assign(shape.groups, std::vector<std::uint32_t>(group_local_words(
                                        shape.kinds, shape.unit_words, shape.liq_units, GroupType::scratch)));
        if constexpr (KeepsLocalSums<Kernel>)
            sums_.assign(shape.groups, std::vector<std::uint32_t>(kernel_.local_sums()));
        paces_.assign(shape.groups, 0);
        return shape;
    }

    void enqueue(const NativeStream& stream, const EngineMemory& memory) override {
        const EngineView view = memory.view();
        *view.control = memory.image;
        Runner::run(stream, memory.useful, [&](unsigned number) { run_group(view, number); });
        memory.image = *view.control;
    }

    [[nodiscard]] bool is_same(const BoundKernel& other) const override {
        return type_of(other) == type() && image_ == static_cast<const HostBoundKernel&>(other).image_;
    }

private:
    [[nodiscard]] const void* type() const noexcept override { return &type_mark<HostBoundKernel>; }

    void run_group(const EngineView& view, unsigned number) {
        LocalSums sums;
        if constexpr (KeepsLocalSums<Kernel>)
            sums = {sums_[number].data(), static_cast<std::uint32_t>(sums_[number].size())};
        try {
            GroupType group(KernelLanes{}, kernel_, seeds_, view, number, local_[number].data(), sums,
                            &paces_[number]);
            run_lane_group(group, kernel_);
            if constexpr (KeepsLocalSums<Kernel>) sums.hand_over(kernel_, 0, 1);
        } catch (...) {
            // The user's functor threw. Other groups stop at their next look. What
            // this group held is lost, and the engine lays out its queues again
            // before it starts again. relaxed: the host reads after the launch.
            std::fill_n(sums.words, sums.count, 0);
            HostSync::store(view.control->status, HR_THREW, HostSync::relaxed);
            HostSync::store(view.control->pause, HR_PAUSE_FAILED, HostSync::relaxed);
            throw;
        }
    }

    Kernel kernel_;
    Seeds seeds_;
    KernelImage<Kernel, Seeds> image_;
    std::vector<std::vector<std::uint32_t>> local_; ///< of each group, allocated apart: no false sharing
    std::vector<std::vector<std::uint32_t>> sums_;  ///< of each group, if the kernel has local sums
    std::vector<std::uint32_t> paces_;              ///< of each group, kept from launch to launch: pace.hpp
};

/// What a generated source returns.
template <class Kernel, class Seeds, class Lanes, class Runner, class Sync = HostSync>
Launcher make_launcher() {
    return launcher_of<HostBoundKernel<Kernel, Seeds, Lanes, Runner, Sync>, Kernel, Seeds, Lanes>();
}

} // namespace headrace::on_cpu
