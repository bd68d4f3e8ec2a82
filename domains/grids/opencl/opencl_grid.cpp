// domains/grids/opencl/opencl_grid.cpp - see opencl_grid.hpp.
#include <headrace/domains/grids/opencl/opencl_grid.hpp>

#include <headrace/internal/devices/opencl/native.hpp>

#include "texture.cl.hpp"

#include <array>

namespace headrace {
namespace {

using opencl::check;

/// The default block, halved until the device accepts its number of work-items for this kernel; slowest
/// first.
AnyGrid block_for(int rank, cl_kernel kernel, cl_device_id device) {
    AnyGrid block = rank == 1   ? AnyGrid(default_block<1>())
                    : rank == 2 ? AnyGrid(default_block<2>())
                                : AnyGrid(default_block<3>());
    std::size_t most = 0;
    check(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr),
          "clGetKernelWorkGroupInfo");
    std::size_t items = 256;
    for (int d = 0; d < rank && items > most;)
        if (block.end[d] > 1) {
            block.end[d] /= 2;
            items /= 2;
        } else {
            ++d;
        }
    return block;
}

/// The ends of the grid, as the kernel's last parameters.
struct Ends {
    cl_long one;
    std::array<cl_int, 3> more;

    explicit Ends(const AnyGrid& grid)
        : one(grid.end[0]),
          more{static_cast<cl_int>(grid.end[0]), static_cast<cl_int>(grid.end[1]),
               static_cast<cl_int>(grid.end[2])} {}
    void add_to(KernelMembers& arguments, int rank) const {
        if (rank == 1) arguments.push_back(std::as_bytes(std::span(&one, 1)));
        for (int d = 0; rank > 1 && d < rank; ++d)
            arguments.push_back(std::as_bytes(std::span(&more[static_cast<std::size_t>(d)], 1)));
    }
};

std::string quoted(const std::string& name) { return "the OpenCL kernel \"" + name + "\""; }

void set_arguments(const std::string& name, cl_kernel native, const KernelMembers& arguments) {
    cl_uint parameters = 0;
    check(clGetKernelInfo(native, CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, nullptr),
          "clGetKernelInfo");
    if (parameters != arguments.size())
        throw Error{ErrorKind::invalid_argument,
                    quoted(name) + " has " + std::to_string(parameters) + " parameters and should have " +
                        std::to_string(arguments.size()) + ": the struct's members, then the grid's ends"};
    for (cl_uint i = 0; i < parameters; ++i) {
        const auto bytes = arguments[i];
        if (const cl_int status = clSetKernelArg(native, i, bytes.size(), bytes.data()); status != CL_SUCCESS)
            throw Error{ErrorKind::invalid_argument,
                        quoted(name) + " does not take argument " + std::to_string(i) + " (" +
                            std::to_string(bytes.size()) +
                            " bytes): " + std::string(opencl::status_name(status))}
                .with_code(status);
    }
}

} // namespace

OpenClGridKernel::OpenClGridKernel(std::string name, std::string file, std::string_view source, AnyGrid block,
                                   std::string options)
    : name_(std::move(name)),
      source_(std::string(embedded::texture_cl) + "#line 1 \"" + file + "\"\n" + std::string(source)),
      options_("-cl-std=CL1.2 " + options), // every platform supports it, and grids need no newer version
      key_(name_ + '\n' + options_ + '\n' + source_),
      block_(block) {}

void OpenClGridKernel::enqueue(const AnyGrid& grid, const KernelMembers& members,
                               const NativeStream& stream) const {
    for (int d = 0; d < grid.rank; ++d)
        if (grid.end[d] <= (d == 0 ? grid.first : 0)) return; // an empty run is an error in OpenCL
    const OpenClTarget target = opencl_target(stream);
    const std::string option = stream_option(stream);
    const auto kernel = shared_kernel(target, key_ + option, [&] {
        try {
            return make_kernel(build_program(target, source_, options_ + option), name_);
        } catch (const Error& error) {
            throw Error{error.kind(), quoted(name_) + ": " + error.message()}.with_code(error.native_code());
        }
    });

    // OpenCL counts dimensions from the fastest one.
    const AnyGrid block =
        block_.rank == grid.rank ? block_ : block_for(grid.rank, kernel->native.get(), target.device);
    std::array<std::size_t, 3> offset{}, global{}, local{};
    for (int d = 0; d < grid.rank; ++d) {
        const int slow = grid.rank - 1 - d;
        const auto begin = static_cast<std::size_t>(slow == 0 ? grid.first : 0);
        local[d] = static_cast<std::size_t>(block.end[slow]);
        offset[d] = begin;
        global[d] = (static_cast<std::size_t>(grid.end[slow]) - begin + local[d] - 1) / local[d] * local[d];
    }
    const Ends ends(grid);
    KernelMembers arguments = members;
    ends.add_to(arguments, grid.rank);

    const std::scoped_lock lock(kernel->mutex);
    set_arguments(name_, kernel->native.get(), arguments);
    check(clEnqueueNDRangeKernel(static_cast<cl_command_queue>(stream.stream), kernel->native.get(),
                                 static_cast<cl_uint>(grid.rank), offset.data(), global.data(), local.data(),
                                 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
}

} // namespace headrace
