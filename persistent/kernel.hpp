// persistent/kernel.hpp - what a kernel author says: where code may run, and which kinds of work unit it has.
//
// A consumer kernel is called with an index; it spawns nothing and has no `Units`:
//     struct Square {
//         View<const float> in; View<float> out;
//         HEADRACE_KERNEL void operator()(auto& lane, std::uint64_t i) const { out[i] = in[i] * in[i]; }
//     };
// A consumer-producer kernel is called with one work unit, and spawns others:
//     struct Walk {
//         using Units = headrace::Kinds<headrace::Kind<Step, 1>>;     // a Step spawns at most one unit
//         HEADRACE_KERNEL void operator()(auto& lane, Step step) const { if (...) lane.spawn(next); }
//     };
// It may say below which share of active lanes a lane group looks for more (75 unless it does; 100: as soon
// as one is idle):
//     static constexpr unsigned refill_percent = 50;
// and how many lanes should be resident on a multiprocessor, where that is worth more than registers (CUDA):
//     static constexpr unsigned resident_lanes = 1024;
// Either may keep 64-bit sums near, to which lanes add all the time (apps/fluorescence has an example):
//     HEADRACE_KERNEL std::uint32_t local_sums() const;            // how many there are
//     HEADRACE_KERNEL std::uint64_t& sum_of(std::uint32_t) const;  // each in memory under accumulate access
// so that lane.add(number, amount, [&]() -> std::uint64_t& { return sum_of(number); }) adds an int32_t or a
// uint32_t, seldom asks where the sum is, and has it there when the job has ended. On a GPU the resident
// lanes of a multiprocessor (512 unless it says how many) share such sums, in one block.
//
// Its seeds turn an index into a first work unit:
//     struct Starts { HEADRACE_KERNEL Step operator()(std::uint64_t index) const; };
// Either kernel may be a group kernel: units are heavy, and all lanes of a lane group process each of them
// together. It is called by all lanes with the same index or unit; group_kernel.hpp has what `group` offers,
// beside spawn and others_are_idle(), which says when a unit that can be split had better be:
//     struct Rows {
//         static constexpr bool by_group = true;
//         static constexpr std::uint32_t scratch_words(std::uint32_t lanes) { return 2 * lanes; }
//         HEADRACE_KERNEL void operator()(auto& group, std::uint64_t row) const {
//             group.each([&](std::uint32_t lane) { group.scratch()[lane] = ...; });
//             group.sync();
//         }
//     };
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__HIPCC__)
    #include <hip/hip_runtime.h> // nvcc knows the device's built-ins by itself
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
    #define HEADRACE_HOST_DEVICE __host__ __device__
#else
    #define HEADRACE_HOST_DEVICE
#endif
/// Marks the call operator of kernels and seeds: compiled for every technology.
#define HEADRACE_KERNEL HEADRACE_HOST_DEVICE

namespace headrace {

/// A kind of work unit: its type, and the largest number of units, of all kinds, that processing one may
/// spawn.
template <class UnitType, unsigned MaxSpawns>
struct Kind {
    using Unit = UnitType;
    static constexpr unsigned max_spawns = MaxSpawns;
    static_assert(std::is_trivially_copyable_v<Unit>, "work units travel through queues as bytes");
    static_assert(sizeof(Unit) % 4 == 0 && alignof(Unit) <= 8, "queues move 32-bit words");
};

/// A kind that needs many more registers than the others, as in Kinds<Kind<Ray, 2>, Apart<Kind<Shade, 2>>>.
///
/// On CUDA and HIP the kinds apart are compiled into a persistent kernel of their own that runs beside the
/// first, so that they do not decide how many lanes of the others are resident; each has half of the
/// multiprocessors' room, whatever work there is, so measure whether it pays: `bench/queues --rows apart` is
/// slower that way. `resident_lanes` is then said of the first. Elsewhere it means nothing. A unit that
/// goes from one to the other goes through device memory, oldest first: so of a tree whose kinds alternate
/// between the two, whole levels are there at a time.
template <class K>
struct Apart : K {};

/// The kinds of a consumer-producer kernel. Kinds do not share a lane group.
template <class... K>
struct Kinds {
    static constexpr unsigned count = sizeof...(K);
};

/// True for kernels that spawn.
template <class Kernel>
concept ConsumerProducer = requires {
    typename Kernel::Units;
};

/// True for kernels whose units a whole lane group processes together.
template <class Kernel>
concept GroupKernel = Kernel::by_group;

/// Words of memory shared by the lanes that a group kernel asks for; whole lines of 16 bytes.
template <class Kernel>
constexpr std::uint32_t scratch_words(std::uint32_t lanes) {
    if constexpr (requires { Kernel::scratch_words(lanes); })
        return (Kernel::scratch_words(lanes) + 3) / 4 * 4;
    else
        return 0;
}

/// One of the sums that a kernel keeps near; or none, where it keeps only some of many.
struct LocalSum {
    std::uint32_t number;
    bool exists = true;

    HEADRACE_HOST_DEVICE LocalSum(std::uint32_t which, bool there = true) : number(which), exists(there) {}
};

/// The seeds of a consumer kernel: index i is work unit i.
struct Indices {
    HEADRACE_KERNEL std::uint64_t operator()(std::uint64_t index) const { return index; }
};

} // namespace headrace
