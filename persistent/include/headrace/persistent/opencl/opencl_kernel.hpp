// persistent/opencl/opencl_kernel.hpp - kernels in OpenCL C, run by the same engine as those in C++.
//
// The source of a consumer:
//     #define HEADRACE_PARAMETERS __global const float* in, __global float* out // at least one
//     #define HEADRACE_ARGUMENTS in, out
//     void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) { out[index] = in[index] * in[index]; }
// A consumer-producer has units (one struct for all kinds) and seeds:
//     typedef struct { uint node; uint depth; } HrUnit;
//     void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) { unit->node = index; }
//     void hr_run(HrLane* lane, uint kind, HrUnit unit, HEADRACE_PARAMETERS)
//     {
//         hr_spawn(lane, kind, &next);
//     }
//
// hr_seed gives all seeds the same kind. A unit that makes many similar units spawns
// a range of them (kernel.hpp). A range is a unit of a kind that the host names in
// `ranges`. Its first two words of 64 bits are its first index and the index past
// its last. hr_expand makes the unit of an index, of the kind that the host names:
//         struct { uint node; uint depth; } step;
//         struct { ulong begin, end; uint depth; } range;           // depth: the payload
//     } HrUnit;
//     void hr_expand(ulong index, uint kind, const HrUnit* range, HrUnit* unit, HEADRACE_PARAMETERS) {
//         unit->step.node = (uint)index;
//         unit->step.depth = range->range.depth;
//     }
//     ... hr_spawn_range(lane, kind, begin, end, &payload);          // payload: an HrUnit
// Seeds may be ranges. If some indices have no unit, hr_seed and hr_expand return whether there is a unit.
// hr_seed sets the kind in either case:
//     #define HEADRACE_GAPS
//     bool hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) { ... }
//
// A kind may be resumable (kernel.hpp). The source then has these functions instead of hr_run, or beside it
// for called kinds. HEADRACE_RESUMABLE is the number of the kind, 0 if it is not defined:
//     #define HEADRACE_PHASES 2
//     typedef struct { ... } HrState;
//     typedef struct { uint stack[24]; } HrScratch;                  // of any one member if it is not needed
//     void hr_begin(HrState* state, HrUnit unit, HEADRACE_PARAMETERS) { ... }
//     uint hr_step(uint phase, HrState* state, HrScratch* scratch, HEADRACE_PARAMETERS) {
//         return phase == 0 ? 1 : HR_DONE;                           // the next phase
//     }
//     void hr_finish(HrLane* lane, HrState* state, HrUnit unit, HEADRACE_PARAMETERS) { ... }
// The steps of a unit follow each other in one round: on OpenCL devices the lanes do not vote.
// docs/kernel.md has a complete source.
//
// A source may set the refill percentage (kernel.hpp):
//     #define HEADRACE_REFILL_PERCENT 50
// A source without a resumable kind may be a group kernel (kernel.hpp). The host then sets
// `by_group`. All lanes, which are work-items, call hr_consume or
// hr_run with the same index or unit, and must spawn the same units:
//         hr_scratch(group)[get_local_id(0)] = ...;
//         hr_sync();
//     }
// prelude.cl has the functions that kernels may call.
//
// What a job declares, and what its kernels then do with a buffer of `task.memory(domain)`:
//     accumulates   hr_atomic_add_T(&sums[i], amount)                    atomics.cl
//     of ExactSum   hr_exact_add_double(words, stride, i, term)          exact_sum.cl (t.sum gives stride)
//     reduces<Min>  hr_atomic_min_T(&least[i], value)                    atomics.cl, as for Max and bits
//     reduces<Op>   HR_DEFINE_COMBINE, for an operation of the user      atomics.cl
//                   HR_DEFINE_SLOT_COMBINE, for values of other sizes    atomics.cl (t.reduce gives slots)
//     scatters      x[i] = value
//     appends       hr_append(records, capacity, record)                 append.cl; domain.size()
//
// Only group kernels may use barriers, and hr_ballot and similar functions, which contain barriers. All lanes
// reach a barrier, or none. If a condition contains barriers, its last statement must be a barrier: PoCL 3.1
// sends all lanes the same way if they part after the last one. PoCL also compiles the code after the
// condition once for each outcome. So a lane that does nothing is better than a barrier under a condition.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/persistent/launcher.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace headrace {

/// A kind of ranges, and the kind of their units.
struct OpenClRange {
    std::uint32_t kind, of;
};

/// A kernel's source, and what the engine must know about it.
struct OpenClKernel {
    std::string name;             ///< for people: build errors name it
    std::string source;           ///< as described above
    std::uint32_t kinds = 0;      ///< of work unit; 0: a consumer
    std::uint32_t unit_bytes = 0; ///< sizeof(HrUnit): a multiple of 4
    std::uint32_t max_spawns = 0; ///< the most units that one call of hr_run spawns
    std::string options{};        ///< for the compiler: "-DWIDTH=640 -cl-mad-enable"
    bool by_group = false;        ///< a group kernel: all lanes process each unit together
    std::uint32_t (*scratch_words)(std::uint32_t lanes) = nullptr; ///< that its lanes share; null: none
    std::vector<OpenClRange> ranges{};                             ///< kinds that are ranges
};

/// The arguments for HEADRACE_PARAMETERS, in their order.
class OpenClArguments {
public:
    /// Adds a `__global` pointer. The memory must outlive the launches.
    OpenClArguments& buffer(const Memory& memory) {
        const void* handle = memory.handle();
        return bytes(&handle, sizeof handle); // a cl_mem is a pointer; the argument is its bytes
    }
    /// Adds a scalar, or a struct that has the same layout in OpenCL C.
    template <class T>
    OpenClArguments& value(const T& value) {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
        return bytes(&value, sizeof value);
    }

    [[nodiscard]] const std::vector<std::vector<std::byte>>& all() const noexcept { return all_; }

private:
    OpenClArguments& bytes(const void* from, std::size_t size) {
        const auto* first = static_cast<const std::byte*>(from);
        all_.emplace_back(first, first + size);
        return *this;
    }

    std::vector<std::vector<std::byte>> all_;
};

/// Binds the kernel for the engine. Returns null if this build lacks OpenCL.
///
/// The engine builds the kernel when it prepares it. That throws kernel with the compiler's log if the source
/// is wrong, and unsupported if the device lacks what the engine needs.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<BoundKernel> bind_opencl(const OpenClKernel& kernel,
                                                                       OpenClArguments arguments);

} // namespace headrace
