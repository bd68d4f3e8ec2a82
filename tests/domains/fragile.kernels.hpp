// tests/domains/fragile.kernels.hpp - kernels whose device is lost or slow, on the CPU alone: others cannot
// throw or sleep.
#pragma once
#include <core/takes.hpp>
#include <domains/job.kernels.hpp>
#include <headrace/core/error.hpp>
#include <headrace/domains/view.hpp>

#include <atomic>
#include <chrono>

namespace headrace::test {

/// Counts indices by their remainder. The first time that it comes to one of them, its device is gone.
struct Fragile {
    Sum<std::uint64_t> bins;
    std::uint64_t at;
    std::atomic<bool>* lost;
    const char* device;

    void operator()(auto&, std::uint64_t i) const {
        if (i == at && !lost->exchange(true))
            throw Error{ErrorKind::device, "gone in mid-job"}.on_device(device);
        bins.add(i % bins.size(), 1);
    }
};

/// Counts indices by their remainder; one of the devices takes long, or fails.
struct Sluggish {
    Sum<std::uint64_t> bins;
    bool is_slow;
    bool fails = false;

    void operator()(auto&, std::uint64_t i) const {
        if (fails) throw Error{ErrorKind::kernel, "it fails"};
        if (is_slow) takes(std::chrono::microseconds(50));
        bins.add(i % bins.size(), 1);
    }
};

/// Three times each element; one of the devices takes long.
struct SluggishRows {
    View<const std::uint32_t> in;
    View<std::uint32_t> out;
    bool is_slow;

    void operator()(auto&, std::uint64_t i) const {
        if (is_slow) takes(std::chrono::microseconds(50));
        out[i] = 3 * in[i];
    }
};

/// Units that devices have done, by device.
struct Shared {
    std::atomic<std::uint64_t> done[2] = {};
    std::atomic<int> rooted{-1}; ///< the device that had the seed
    std::atomic<bool> lost = false;
};

/// A full binary tree from one seed. Who had the seed or whom others gave units is lost when the others have
/// done so many; never, if none are named.
struct FragileTree {
    using Units = Kinds<Kind<Node, 2>>;
    enum class Loses { nobody, donor, recipient };
    Sum<std::uint32_t> nodes;
    std::uint32_t depth;
    Loses loses;
    int device;
    Shared* shared;

    void operator()(auto& lane, Node node) const {
        if (node.depth == 0) shared->rooted = device;
        const bool gives = shared->rooted == device;
        if (loses == (gives ? Loses::donor : Loses::recipient) && shared->done[1 - shared->rooted] > 5000 &&
            !shared->lost.exchange(true))
            throw Error{ErrorKind::device, "gone in mid-job"}.on_device(device == 0 ? "cpu:a" : "cpu:b");
        ++shared->done[device];
        nodes.add(node.seed, 1);
        if (node.depth == depth) return;
        lane.spawn(Node{node.seed, node.depth + 1});
        lane.spawn(Node{node.seed, node.depth + 1});
    }
};

/// Nodes from one range, which is the only seed: `Shared::done` says which device had how many.
struct Row {
    std::uint32_t seed;
};
struct NodesOfRow {
    HEADRACE_KERNEL Node operator()(std::uint64_t, const Row& row) const { return {row.seed, 0}; }
};
struct CountRow {
    using Units = Kinds<Kind<Node, 0>, RangeKind<Row, NodesOfRow>>;
    Sum<std::uint32_t> nodes;
    int device;
    Shared* shared;

    void operator()(auto&, Node node) const {
        ++shared->done[device];
        nodes.add(node.seed, 1);
    }
};
struct OneRow {
    std::uint64_t length;
    HEADRACE_KERNEL Range<Row> operator()(std::uint64_t) const { return {0, length, {0}}; }
};

} // namespace headrace::test
