// persistent/kernel.hpp - what a kernel's author writes: the kernel, its seeds, and its kinds of work unit.
//
// A consumer kernel is called with an index; it spawns nothing and has no `Units`:
//     struct Square {
//         View<const float> in; View<float> out;
//         HEADRACE_KERNEL void operator()(auto& lane, std::uint64_t i) const { out[i] = in[i] * in[i]; }
//     };
// A consumer-producer kernel is called with one work unit, and spawns other units:
//     struct Walk {
//         using Units = headrace::Kinds<headrace::Kind<Step, 1>>;     // a Step spawns at most one unit
//         HEADRACE_KERNEL void operator()(auto& lane, Step step) const { if (...) lane.spawn(next); }
//     };
// It may set the percentage of active lanes below which a lane group looks for more units. The default is 75.
// With 100, a group refills as soon as one lane is idle:
//     static constexpr unsigned refill_percent = 50;
// On CUDA it may set how many lanes should be resident on a multiprocessor, at the cost of registers:
//     static constexpr unsigned resident_lanes = 1024;
// Consumers and consumer-producers may have local 64-bit sums, to which lanes add often (apps/fluorescence
// has an example):
//     HEADRACE_KERNEL std::uint32_t local_sums() const;            // how many there are
//     HEADRACE_KERNEL std::uint64_t& sum_of(std::uint32_t) const;  // each in memory under accumulate access
// Then lane.add(number, amount, [&]() -> std::uint64_t& { return sum_of(number); }) adds an int32_t or a
// uint32_t. It seldom calls the function that finds the sum. The sum in memory is complete when the job has
// ended. On a GPU, the resident lanes of a multiprocessor share these sums, in one block. A block has 512
// lanes, or `resident_lanes`.
// Its seeds turn an index into a first work unit:
//     struct Starts { HEADRACE_KERNEL Step operator()(std::uint64_t index) const; };
// They may return std::optional<Step>. An index without a unit is completed at once.
//
// A unit that makes many similar units spawns a range of them. A range is a
// work unit of its own kind: two indices and a payload. The engine makes the
// unit of an index when a lane is free for it. So a range of any length
// takes the memory of one unit, and each of its units costs as much as the
// unit of a seed. Idle lane groups and idle devices get a part of the range:
//     struct Photons {                                               // a unit of an index, or none
//         HEADRACE_KERNEL Photon operator()(std::uint64_t index, const Burst& burst) const;
//     };
//     struct Scatter {
//         using Units = headrace::Kinds<headrace::Kind<Photon, 2>, headrace::RangeKind<Burst, Photons>>;
//         HEADRACE_KERNEL void operator()(auto& lane, Photon photon) const {
//             if (...) lane.spawn_range(0, 100'000, Burst{...});     // counts as one of the two spawns
//         }
//     };
// The kernel is not called with ranges. Seeds may be ranges too: they then return headrace::Range<Burst>.
//
// A kind whose units take very different numbers of steps may be resumable. The kernel then has, instead of
// one call, a function that begins a unit, a step for each of its phases, and a function that finishes it:
//     struct Walk {                                                  // how a Ray is processed
//         struct State { ... };                                      // at most 64 bytes; begin returns it
//         struct Scratch { std::uint32_t stack[24]; };               // may be left out; begins undefined
//         static constexpr unsigned phase_percent[] = {0, 25};       // two phases, nodes and triangles
//     };
//     struct Trace {
//         using Units = headrace::Kinds<headrace::ResumableKind<Ray, 2, Walk>>;
//         HEADRACE_KERNEL Walk::State begin(auto& lane, const Ray& ray) const;
//         HEADRACE_KERNEL headrace::Phase step(headrace::Constant<0>, auto& lane, Walk::State&,
//                                              Walk::Scratch&) const;     // and one for Constant<1>
//         HEADRACE_KERNEL void finish(auto& lane, Walk::State&) const;   // may spawn
//     };
// A step that needs no Scratch leaves the argument out.
// A unit begins in phase 0. Each step returns the unit's next phase, or Phase::done. The lanes of a group do
// steps of one phase at a time. The engine chooses the phase, and the time to refill lanes: phase_votes.hpp
// has the rule. `phase_percent`: the percentage of a group's lanes that should wait for a phase before the
// group does it. Later phases come first.
// A pause may forget a State, and begin the unit again. So begin and step write nothing but State and
// Scratch: they neither spawn nor add. `finish` may take the unit too, as a third argument. The engine keeps
// it for that. A kernel whose finish takes two arguments may say how to get the unit back from the State. It
// then saves the memory:
//         HEADRACE_KERNEL Ray unit(const Walk::State&) const;
// Finishing a unit takes long if few lanes do it. If the Walk has a Result, units wait until a whole lane
// group can finish its own. Meanwhile they are in the group's inbox, in global memory, and so are units that
// have not begun. The kernel then has `end`, which writes what finish needs of a walk; begin and finish may
// be long:
//     struct Walk {
//         ...
//         struct Result { std::uint32_t triangle; };                 // plain data
//     };
//         HEADRACE_KERNEL Walk::State begin(auto& lane, const Ray& ray, Walk::Scratch&) const;
//         HEADRACE_KERNEL void end(auto& lane, const Walk::State&, Walk::Scratch&, Walk::Result&) const;
//         HEADRACE_KERNEL void finish(auto& lane, const Walk::Result&, const Ray&) const; // may spawn
// If some walks need more before finish, which takes long, their last step returns Phase::unresolved. Those
// units gather apart until they fill `resolve_percent` of a group, 25 unless the kernel says otherwise:
//         HEADRACE_KERNEL void resolve(auto& lane, Walk::Result&, const Ray&) const;      // spawns nothing
// Such a kernel has no other kinds but ranges.
// The other kinds of a kernel without a Result are called kinds: its call operator processes a unit as a
// whole, while lanes are in the middle of resumable units. Units of called kinds gather in the LIQ until they
// fill this percentage of a lane group. The default is 100:
//     static constexpr unsigned gather_percent = 50;
// Before a pause, a lane group does at most this number of steps to finish what it has begun. The default is
// 128. It finishes at least one unit in any case:
//     static constexpr unsigned drain_steps = 1000;
//
// A kernel whose units are plain arithmetic may have a batch form beside its call operator. A CPU then
// processes several units at once, in the lanes of its vectors: docs/vectors.md. `lanes[i]` is the handle for
// units[i]. At most `Width` units come, 8 or 16. For a consumer, they are indices:
//     #ifdef HEADRACE_HAS_BATCHES // <headrace/devices/cpu/batch.hpp>
//         template <std::uint32_t Width>
//         HEADRACE_BATCH_CODE void batch(headrace::Constant<Width>, auto* lanes, const Step* units,
//                                        std::uint32_t count) const;
//     #endif
//
// A consumer may be a group kernel, and so may a consumer-producer that has no resumable kind. Its units are
// heavy, and all lanes of a lane group process each unit together: all lanes call the kernel with the same
// index or unit. group_kernel.hpp has what `group` offers, with spawn. If group.others_are_idle() is true, a
// unit that can be split should split:
//     struct Rows {
//         static constexpr bool by_group = true;
//         static constexpr std::uint32_t scratch_words(std::uint32_t lanes) { return 2 * lanes; }
//         HEADRACE_KERNEL void operator()(auto& group, std::uint64_t row) const {
//             group.each([&](std::uint32_t lane) { group.scratch()[lane] = ...; });
//             group.sync();
//         }
//     };
#pragma once
#include <headrace/devices/kernels/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace headrace {

/// Most units that one call may spawn. Each lane keeps them until the call has ended.
inline constexpr unsigned most_spawns = 256;

/// A kind of work unit: its type, and the most units of all kinds that one call may spawn. Each lane has
/// slots for that number, so a large number makes each unit more expensive: spawn a range instead.
template <class UnitType, unsigned MaxSpawns>
struct Kind {
    using Unit = UnitType;
    static constexpr unsigned max_spawns = MaxSpawns;
    static_assert(MaxSpawns <= most_spawns,
                  "one call may spawn at most 256 units: let it spawn a range of them instead, with "
                  "lane.spawn_range() of a headrace::RangeKind (headrace/persistent/kernel.hpp)");
    static_assert(std::is_trivially_copyable_v<Unit>, "work units travel through queues as bytes");
    static_assert(sizeof(Unit) % 4 == 0 && alignof(Unit) <= 8, "queues move 32-bit words");
};

/// A number as a type, for code that needs it at compile time.
template <std::uint32_t Value>
using Constant = std::integral_constant<std::uint32_t, Value>;

/// The phase of a resumable unit that comes next: a number, as in Phase{1}, or the end. `unresolved`: the
/// walk is over, and the kernel's `resolve` comes before finish. For kinds with a Result alone.
enum class Phase : std::uint32_t { done = 0xffffffffu, unresolved = 0xfffffffeu };

/// For resumable kinds that need no scratch.
struct NoScratch {};

/// True if a Walk says, for each of its phases, which percentage of a group's lanes should wait for it.
template <class Walk>
concept HasPhases = requires {
    typename Constant<std::size(Walk::phase_percent)>;
    typename std::bool_constant<Walk::phase_percent[0] == 0>; // known at compile time
    requires std::is_integral_v<std::remove_cvref_t<decltype(Walk::phase_percent[0])>>;
};

/// True if a walk leaves a Result, with which units wait to be finished: the kind gathers.
template <class Walk>
concept HasResult = requires {
    typename Walk::Result;
};

/// A kind whose units are processed in phases. `Walk` has a State, a Scratch or none, `phase_percent`, and a
/// Result or none.
template <class UnitType, unsigned MaxSpawns, class WalkType>
struct ResumableKind : Kind<UnitType, MaxSpawns> {
    using Walk = WalkType;
    using State = typename Walk::State;
    static constexpr std::uint32_t phases = [] {
        if constexpr (HasPhases<Walk>)
            return std::size(Walk::phase_percent);
        else
            return 0;
    }();
    static_assert(HasPhases<Walk>, "headrace: the Walk of a resumable kind has a percentage for each phase: "
                                   "static constexpr unsigned phase_percent[] = {0, 25}");
    static_assert(std::is_trivially_copyable_v<State> && sizeof(State) <= 64,
                  "headrace: the State of a resumable kind stays in a lane's registers: it is trivially "
                  "copyable and has at most 64 bytes; arrays go in Scratch");
    static_assert(phases <= 8, "headrace: a resumable kind has at most 8 phases");
    static_assert(
        [] {
            if constexpr (HasPhases<Walk>)
                for (const unsigned percent : Walk::phase_percent)
                    if (percent > 100) return false;
            return true;
        }(),
        "headrace: phase_percent are percentages of the lanes of a group: at most 100");
};

/// A work unit that stands for many: the units of the indices [begin, end). All ranges of a launch together
/// have fewer than 2^63 indices.
template <class Payload>
struct Range {
    std::uint64_t begin, end;
    Payload payload;
};

/// A kind of ranges. `Expand` is a function object without members. expand(index, payload) returns the unit
/// of an index, or a std::optional of it. The unit is of one of the kernel's kinds. Range kinds differ in the
/// types of their payloads.
template <class PayloadType, class ExpandType>
struct RangeKind {
    using Payload = PayloadType;
    using Expand = ExpandType;
    using Unit = Range<Payload>;
    static constexpr unsigned max_spawns = 0; ///< the engine expands ranges without a call of the kernel
    static_assert(std::is_trivially_copyable_v<Payload>, "work units travel through queues as bytes");
    static_assert(sizeof(Payload) % 4 == 0 && alignof(Payload) <= 8, "queues move 32-bit words");
    static_assert(std::is_empty_v<Expand> && std::is_default_constructible_v<Expand>,
                  "what a range's units depend on is in its payload");
};

/// The kinds of a consumer-producer kernel. The lanes of a group hold units of one kind at a time.
template <class... K>
struct Kinds {
    static constexpr unsigned count = sizeof...(K);
};

/// True for kernels that spawn.
template <class Kernel>
concept ConsumerProducer = requires {
    typename Kernel::Units;
};

/// True for kernels that process each unit with a whole lane group.
template <class Kernel>
concept GroupKernel = Kernel::by_group;

/// Words of scratch memory that a group kernel asks for. Its lanes share them. A multiple of 16 bytes.
template <class Kernel>
constexpr std::uint32_t scratch_words(std::uint32_t lanes) {
    if constexpr (requires { Kernel::scratch_words(lanes); })
        return (Kernel::scratch_words(lanes) + 3) / 4 * 4;
    else
        return 0;
}

/// One of a kernel's local sums. If `exists` is false, the kernel does not keep this sum local.
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
