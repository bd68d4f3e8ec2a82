// persistent/opencl/opencl_kernel.cpp - see opencl_kernel.hpp.
#include <headrace/internal/core/compiling.hpp>
#include <headrace/persistent/opencl/opencl_kernel.hpp>

#include <headrace/internal/devices/opencl/native.hpp>
#include <headrace/persistent/detail/engine_memory.hpp>
#include <headrace/persistent/units.hpp>

#include <CL/cl_ext.h>

#include "append.cl.hpp"
#include "atomics.cl.hpp"
#include "consumer.cl.hpp"
#include "control.h.hpp"
#include "exact_sum.cl.hpp"
#include "group.cl.hpp"
#include "group_kernel.cl.hpp"
#include "leader.cl.hpp"
#include "plan.cl.hpp"
#include "prelude.cl.hpp"
#include "producer.cl.hpp"
#include "ring.cl.hpp"
#include "sharing.cl.hpp"
#include "sources.cl.hpp"
#include "units.cl.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

namespace headrace {
namespace {

using opencl::check;

constexpr std::uint32_t engine_parameters = 5; // of headrace_engine, before the user's parameters
constexpr std::uint32_t gpu_lanes = 32;
// Lanes take turns on one core. They are enough to share the cost of a queue operation.
constexpr std::uint32_t cpu_lanes = 8;
constexpr Bytes most_state_bytes = 512; // of a group besides its LIQ; its source checks that this is enough
constexpr Bytes range_state_bytes = 64; // in addition, if there are ranges
constexpr Bytes exchange_bytes = 16;    // in addition, for each lane of a group kernel
constexpr Bytes most_liq_bytes = 64 << 10; // a LIQ should stay in a core's own cache
constexpr std::uint32_t most_groups_per_processor = 32;

template <class T>
T device_value(cl_device_id device, cl_device_info what) {
    T value{};
    return clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

std::string device_text(cl_device_id device, cl_device_info what) {
    std::array<char, 16384> text{}; // the list of extensions is the longest text
    check(clGetDeviceInfo(device, what, text.size() - 1, text.data(), nullptr), "clGetDeviceInfo");
    return text.data();
}

/// What the host must know about a device to build a kernel and to lay out its queues.
struct Facts {
    bool gpu = false;
    std::uint32_t ptx = 0; ///< NVIDIA's compute capability: 80 for 8.0; 0: not an NVIDIA device
    std::uint32_t processors = 1;
    Bytes local_bytes = 0;
    std::string standard; ///< the compiler's -cl-std
};

Facts facts_of(cl_device_id device) {
    Facts facts;
    facts.gpu = device_value<cl_device_type>(device, CL_DEVICE_TYPE) != CL_DEVICE_TYPE_CPU;
    facts.processors = std::max(1u, device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
    facts.local_bytes = device_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
    const std::string extensions = device_text(device, CL_DEVICE_EXTENSIONS);
    if (extensions.find("cl_nv_device_attribute_query") != std::string::npos)
        facts.ptx = 10 * device_value<cl_uint>(device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV) +
                    device_value<cl_uint>(device, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV);
    const std::string version = device_text(device, CL_DEVICE_VERSION);
    if (version.starts_with("OpenCL 1."))
        throw Error{ErrorKind::unsupported,
                    "the engine needs the atomics of OpenCL C 2.0, and the device has " + version};
    if (extensions.find("cl_khr_int64_base_atomics") == std::string::npos)
        throw Error{ErrorKind::unsupported, "the engine needs 64-bit atomics (cl_khr_int64_base_atomics)"};
    facts.standard = version.starts_with("OpenCL 2.") ? "CL2.0" : "CL3.0";
    return facts;
}

/// Throws unsupported if the compiler does not accept the engine's atomics. Feature macros do not tell:
/// NVIDIA 580 has these atomics and does not report them. So this function compiles a probe.
void require_atomics(OpenClTarget target, const Facts& facts) {
    std::string source = "typedef uint hr_u32;\ntypedef ulong hr_u64;\n#define HR_FUNCTION static inline\n";
    source += embedded::ring_cl;
    source += "__kernel void headrace_probe(__global ulong* word) {\n"
              "    if (hr_load_acquire(word) == 0) hr_store_release(word, hr_fetch_add(word + 1, 1));\n}\n";
    try {
        static_cast<void>(build_program(target, source, "-cl-std=" + facts.standard));
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::kernel) throw;
        throw Error{ErrorKind::unsupported,
                    "the engine needs the device-wide acquire and release atomics of OpenCL C 2.0, and this "
                    "driver's compiler does not take them"}
            .with_code(error.native_code());
    }
}

class OpenClBoundKernel final : public BoundKernel {
public:
    OpenClBoundKernel(OpenClKernel kernel, OpenClArguments arguments)
        : kernel_(std::move(kernel)), arguments_(std::move(arguments)) {
        const auto complain = [this](std::string_view what) {
            throw Error{ErrorKind::invalid_argument,
                        "the OpenCL kernel \"" + kernel_.name + "\": " + std::string(what)};
        };
        if (kernel_.kinds > HR_MAX_KINDS) complain("more kinds of work unit than the engine has room for");
        if (kernel_.kinds > 0 && (kernel_.unit_bytes == 0 || kernel_.unit_bytes % 4 != 0))
            complain("unit_bytes must be a multiple of 4");
        if (kernel_.max_spawns > most_spawns)
            complain("one call may spawn at most " + std::to_string(most_spawns) +
                     " units: let it spawn a range of them instead, with hr_spawn_range() of one of its "
                     "`ranges` (opencl_kernel.hpp)");
        for (const OpenClRange& range : kernel_.ranges) {
            if (range.kind >= kernel_.kinds || range.of >= kernel_.kinds)
                complain("a range of a kind, or of units of a kind, that there is not");
            ranges_ |= 1u << range.kind;
            range_of_ |= range.of << 4 * range.kind;
        }
        for (const OpenClRange& range : kernel_.ranges)
            if ((ranges_ >> range.of & 1) != 0)
                complain("a range expands to units of a kind that is no range");
        if (ranges_ != 0 && kernel_.unit_bytes < 2 * sizeof(std::uint64_t))
            complain("an HrUnit that is a range begins with two ulongs");
        if (arguments_.all().empty()) complain("it needs at least one argument");
    }

    EngineShape prepare(const NativeStream& stream, const EngineWishes& wishes) override {
        const OpenClTarget target = opencl_target(stream);
        const Facts facts = facts_of(target.device);
        require_atomics(target, facts);

        EngineShape shape;
        lanes_ = facts.gpu ? gpu_lanes : cpu_lanes;
        shape.lanes = kernel_.by_group ? 1 : lanes_;
        shape.kinds = kernel_.kinds;
        if (wishes.refill_percent != 0) shape.enough = enough_lanes(shape.lanes, wishes.refill_percent);
        shape.unit_words = kernel_.kinds > 0 ? kernel_.unit_bytes / 4 : 0;
        shape.max_spawns = kernel_.kinds > 0 ? kernel_.max_spawns : 0;
        shape.ranges = ranges_;
        if (ranges_ != 0) shape.max_spawns = std::max(shape.max_spawns, 1u); // it needs a slot in the LIQ
        // Group kernels spawn little and need the memory for their scratch.
        const Bytes liq_bytes = facts.local_bytes / (kernel_.by_group ? 16 : 4);
        shape.liq_units = choose_liq_units(shape, wishes.liq_units, std::min(liq_bytes, most_liq_bytes));
        local_bytes_ = state_bytes() + Bytes{4} * scratch_words() +
                       Bytes{4} * shape.kinds * shape.unit_words * shape.liq_units;

        const std::string options = "-cl-std=" + facts.standard + definitions(shape, facts) +
                                    grid_option(stream, wishes, facts) + " " + kernel_.options;
        try {
            native_ = make_kernel(build_program(target, source(), options), "headrace_engine");
        } catch (const Error& error) {
            throw Error{error.kind(), "the OpenCL kernel \"" + kernel_.name + "\": " + error.message()}
                .with_code(error.native_code());
        }
        check_fits(target.device, facts);
        shape.groups = groups(facts);
        if (wishes.groups != 0) shape.groups = std::min(shape.groups, wishes.groups);
        bind_arguments();
        return shape;
    }

    void enqueue(const NativeStream& stream, const EngineMemory& memory) override {
        const std::array parts{&memory.control, &memory.slots, &memory.bundles, &memory.spill};
        for (cl_uint i = 0; i < parts.size(); ++i) {
            const void* buffer = parts[i]->handle();
            check(clSetKernelArg(native_.get(), i, sizeof buffer, &buffer), "clSetKernelArg");
        }
        check(clSetKernelArg(native_.get(), 4, local_bytes_, nullptr), "clSetKernelArg");
        auto* const queue = static_cast<cl_command_queue>(stream.stream); // an in-order queue
        auto* const control = static_cast<cl_mem>(memory.control.handle());
        check(clEnqueueWriteBuffer(queue, control, CL_FALSE, 0, sizeof(HrControl), &memory.image, 0, nullptr,
                                   nullptr),
              "clEnqueueWriteBuffer");
        const std::size_t local = lanes_,
                          global = local * (mixes_up_grids(stream) ? memory.groups : memory.useful);
        if (mixes_up_grids(stream) && is_first_launch(local)) // PoCL
            launch_first(queue, global, local);
        else
            check(clEnqueueNDRangeKernel(queue, native_.get(), 1, nullptr, &global, &local, 0, nullptr,
                                         nullptr),
                  "clEnqueueNDRangeKernel");
        check(clEnqueueReadBuffer(queue, control, CL_FALSE, 0, sizeof(HrControl), &memory.image, 0, nullptr,
                                  nullptr),
              "clEnqueueReadBuffer");
    }

private:
    /// True for the first launch of this program with work-groups of this size, in this process.
    [[nodiscard]] bool is_first_launch(std::size_t local) const {
        static std::mutex mutex;
        static std::set<std::pair<cl_program, std::size_t>> known; // few: a process keeps its programs
        cl_program program = nullptr;
        // NOLINTNEXTLINE(bugprone-sizeof-expression): a handle of OpenCL is a pointer
        check(clGetKernelInfo(native_.get(), CL_KERNEL_PROGRAM, sizeof program, &program, nullptr),
              "clGetKernelInfo");
        const std::scoped_lock lock(mutex);
        return known.insert({program, local}).second;
    }
    /// PoCL compiles a kernel for its work-group size when the kernel is about to begin. Until the kernel
    /// runs, a `Compiling` shows that the device is alive.
    void launch_first(cl_command_queue queue, std::size_t global, std::size_t local) {
        auto sign = std::make_unique<Compiling>();
        cl_event began = nullptr;
        check(clEnqueueNDRangeKernel(queue, native_.get(), 1, nullptr, &global, &local, 0, nullptr, &began),
              "clEnqueueNDRangeKernel");
        const auto end = [](cl_event, cl_int, void* compiling) { delete static_cast<Compiling*>(compiling); };
        if (clSetEventCallback(began, CL_RUNNING, end, sign.get()) == CL_SUCCESS)
            static_cast<void>(sign.release()); // the callback owns it and is called once
        clReleaseEvent(began);
    }

    /// Joins the parts in their order, each under its own name, so that a build log says which part has an
    /// error.
    [[nodiscard]] std::string source() const {
        std::vector<std::pair<std::string_view, std::string_view>> parts{
            {"control.h", embedded::control_h},   {"prelude.cl", embedded::prelude_cl},
            {"atomics.cl", embedded::atomics_cl}, {"exact_sum.cl", embedded::exact_sum_cl},
            {"append.cl", embedded::append_cl},   {kernel_.name, kernel_.source},
            {"ring.cl", embedded::ring_cl},       {"group.cl", embedded::group_cl}};
        if (kernel_.kinds > 0) parts.emplace_back("units.cl", embedded::units_cl);
        if (kernel_.by_group) parts.emplace_back("group_kernel.cl", embedded::group_kernel_cl);
        if (kernel_.kinds > 0)
            parts.insert(parts.end(), {{"plan.cl", embedded::plan_cl},
                                       {"sources.cl", embedded::sources_cl},
                                       {"sharing.cl", embedded::sharing_cl},
                                       {"leader.cl", embedded::leader_cl},
                                       {"producer.cl", embedded::producer_cl}});
        else
            parts.emplace_back("consumer.cl", embedded::consumer_cl);
        std::string text;
        for (const auto& [name, part] : parts) {
            text += "#line 1 \"";
            for (const char c : name) text += c == '"' || c == '\\' || c == '\n' ? '_' : c;
            text += "\"\n";
            text += part;
            text += '\n';
        }
        return text;
    }

    /// Bytes of the leader's state. Lanes of a group kernel also exchange words there.
    [[nodiscard]] Bytes state_bytes() const {
        return most_state_bytes + (ranges_ != 0 ? range_state_bytes : 0) +
               (kernel_.by_group ? exchange_bytes * lanes_ : 0);
    }
    /// A multiple of 16 bytes.
    [[nodiscard]] std::uint32_t scratch_words() const {
        return kernel_.scratch_words ? (kernel_.scratch_words(lanes_) + 3) / 4 * 4 : 0;
    }

    [[nodiscard]] std::string definitions(const EngineShape& shape, const Facts& facts) const {
        std::string text = " -DHEADRACE_LANES=" + std::to_string(lanes_);
        text += " -DHEADRACE_QUEUE_LANES=" + std::to_string(shape.lanes);
        text += " -DHEADRACE_LOCAL_STATE=" + std::to_string(state_bytes());
        text += " -DHEADRACE_SCRATCH_WORDS=" + std::to_string(scratch_words());
        if (kernel_.by_group) text += " -DHEADRACE_BY_GROUP=1";
        if (shape.kinds == 0) {
            text += " -DHEADRACE_CONSUMER=1";
        } else {
            text += " -DHEADRACE_PRODUCER=1 -DHEADRACE_KINDS=" + std::to_string(shape.kinds);
            text += " -DHEADRACE_UNIT_WORDS=" + std::to_string(shape.unit_words);
            text += " -DHEADRACE_MAX_SPAWNS=" + std::to_string(shape.max_spawns);
            text += " -DHEADRACE_RANGES=" + std::to_string(ranges_);
            text += " -DHEADRACE_RANGE_OF=" + std::to_string(range_of_) + "u";
        }
        if (facts.ptx != 0) text += " -DHEADRACE_PTX=" + std::to_string(facts.ptx);
        return text;
    }

    /// If the driver mixes up grids, all launches of a program must have the same grid.
    [[nodiscard]] static std::string grid_option(const NativeStream& stream, const EngineWishes& wishes,
                                                 const Facts& facts) {
        if (!mixes_up_grids(stream)) return "";
        const std::uint32_t groups =
            wishes.groups == 0 ? facts.processors : std::min(wishes.groups, facts.processors);
        return " -DHEADRACE_GRID=" + std::to_string(groups);
    }

    void check_fits(cl_device_id device, const Facts& facts) {
        std::size_t most = 0;
        cl_ulong fixed = 0;
        check(clGetKernelWorkGroupInfo(native_.get(), device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                       nullptr),
              "clGetKernelWorkGroupInfo");
        check(clGetKernelWorkGroupInfo(native_.get(), device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof fixed, &fixed,
                                       nullptr),
              "clGetKernelWorkGroupInfo");
        local_of_group_ = fixed + local_bytes_;
        if (most < lanes_ || local_of_group_ > facts.local_bytes)
            throw Error{ErrorKind::unsupported,
                        "the OpenCL kernel \"" + kernel_.name + "\" needs a lane group of " +
                            std::to_string(lanes_) + " with " + std::to_string(local_of_group_) +
                            " bytes of local memory; the device has " + std::to_string(most) + " and " +
                            std::to_string(facts.local_bytes)};
    }

    /// Estimates how many groups can be resident. No group waits for a group that has not begun, so too high
    /// an estimate costs only time.
    [[nodiscard]] std::uint32_t groups(const Facts& facts) const {
        if (!facts.gpu) return facts.processors;
        // Today's GPUs have up to four times the local memory that they give to one group (H200: 228 KB, and
        // 48 KB for a group).
        const Bytes fit = 4 * facts.local_bytes / local_of_group_;
        return facts.processors *
               static_cast<std::uint32_t>(std::clamp<Bytes>(fit, 1, most_groups_per_processor));
    }

    void bind_arguments() {
        cl_uint parameters = 0;
        check(clGetKernelInfo(native_.get(), CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, nullptr),
              "clGetKernelInfo");
        if (parameters - engine_parameters != arguments_.all().size())
            throw Error{ErrorKind::invalid_argument,
                        "the OpenCL kernel \"" + kernel_.name + "\" has " +
                            std::to_string(parameters - engine_parameters) + " parameters and was given " +
                            std::to_string(arguments_.all().size()) + " arguments"};
        for (cl_uint i = 0; i < arguments_.all().size(); ++i) {
            const auto& argument = arguments_.all()[i];
            const cl_int status =
                clSetKernelArg(native_.get(), engine_parameters + i, argument.size(), argument.data());
            if (status != CL_SUCCESS)
                throw Error{ErrorKind::invalid_argument,
                            "the OpenCL kernel \"" + kernel_.name + "\" does not take argument " +
                                std::to_string(i) + " (" + std::to_string(argument.size()) +
                                " bytes): " + std::string(opencl::status_name(status))}
                    .with_code(status);
        }
    }

    OpenClKernel kernel_;
    OpenClArguments arguments_;
    opencl::KernelHandle native_;
    std::uint32_t ranges_ = 0, range_of_ = 0; ///< one bit, and four bits, for each kind
    std::uint32_t lanes_ = 1;                 ///< work-items of a group
    Bytes local_bytes_ = 0;                   ///< local memory that a launch asks for
    Bytes local_of_group_ = 0;                ///< all local memory of a group
};

} // namespace

std::unique_ptr<BoundKernel> bind_opencl(const OpenClKernel& kernel, OpenClArguments arguments) {
    return std::make_unique<OpenClBoundKernel>(kernel, std::move(arguments));
}

} // namespace headrace
