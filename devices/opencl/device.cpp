// devices/opencl/device.cpp - see device.hpp.
#include "opencl/device.hpp"

#include "check_range.hpp"
#include "opencl/image.hpp"
#include "opencl/memory.hpp"
#include "opencl/stream.hpp"
#include <headrace/internal/devices/opencl/native.hpp>

#include <cstdlib>
#include <new>
#include <string>
#include <utility>

namespace headrace::opencl {
namespace {

constexpr std::size_t host_alignment = 64;

[[noreturn]] void throw_out_of_memory(const Context& context, std::string_view what, Bytes size,
                                      cl_int code) {
    throw Error{ErrorKind::out_of_memory,
                std::string(what) + " of " + std::to_string(size) + " bytes; the device has " +
                    std::to_string(context.info().memory) + ", in pieces of at most " +
                    std::to_string(context.info().largest_allocation) + ", and " +
                    std::to_string(context.allocated.load()) + " are taken"}
        .on_device(context.info().id)
        .with_code(code);
}

bool is_shortage(cl_int status) {
    return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
           status == CL_OUT_OF_HOST_MEMORY || status == CL_INVALID_BUFFER_SIZE;
}

/// A buffer that stays mapped: OpenCL has no other way to get pinned memory.
class PinnedMemory {
public:
    PinnedMemory(std::shared_ptr<Context> context, Bytes size)
        : context_(std::move(context)), queue_(context_->make_queue()) {
        cl_int status = CL_SUCCESS;
        buffer_ =
            BufferHandle{clCreateBuffer(context_->get(), CL_MEM_ALLOC_HOST_PTR, size, nullptr, &status)};
        if (status == CL_SUCCESS)
            address_ = clEnqueueMapBuffer(queue_.get(), buffer_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                          size, 0, nullptr, nullptr, &status);
        if (is_shortage(status)) throw_out_of_memory(*context_, "pinned host memory", size, status);
        check(status, "clEnqueueMapBuffer");
    }
    ~PinnedMemory() {
        if (!address_) return;
        clEnqueueUnmapMemObject(queue_.get(), buffer_.get(), address_, 0, nullptr, nullptr);
        clFinish(queue_.get());
    }
    PinnedMemory(const PinnedMemory&) = delete; // one mapping, one unmapping
    PinnedMemory& operator=(const PinnedMemory&) = delete;

    [[nodiscard]] void* address() const noexcept { return address_; }

private:
    std::shared_ptr<Context> context_;
    QueueHandle queue_;
    BufferHandle buffer_;
    void* address_ = nullptr;
};

} // namespace

OpenClDevice::OpenClDevice(cl_device_id device, DeviceInfo info) {
    const std::string id = info.id;
    try {
        context_ = make_destroyed_by_executor<Context>(device, std::move(info));
    } catch (Error& error) {
        throw Error{error.on_device(id)};
    }
}

std::unique_ptr<Memory> OpenClDevice::allocate(Bytes size) {
    if (size == 0) throw Error{ErrorKind::invalid_argument, "a memory of no bytes"}.on_device(info().id);
    cl_int status = CL_INVALID_BUFFER_SIZE;
    BufferHandle buffer;
    if (size <= info().largest_allocation)
        buffer = BufferHandle{clCreateBuffer(context_->get(), CL_MEM_READ_WRITE, size, nullptr, &status)};
    if (status == CL_SUCCESS && info().kind != DeviceKind::cpu) {
        // GPU drivers allocate the memory only at its first use. The migration is a first use, so that a
        // shortage is reported here.
        const QueueHandle queue = context_->make_queue();
        const cl_mem native = buffer.get();
        status = clEnqueueMigrateMemObjects(queue.get(), 1, &native, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
                                            0, nullptr, nullptr);
        if (status == CL_SUCCESS) status = clFinish(queue.get());
    }
    if (is_shortage(status)) throw_out_of_memory(*context_, "a memory", size, status);
    check(status, "clCreateBuffer");
    return std::make_unique<Buffer>(context_, std::move(buffer), size);
}

std::shared_ptr<void> OpenClDevice::allocate_host(Bytes size) {
    if (info().kind != DeviceKind::cpu) {
        auto pinned = std::make_shared<PinnedMemory>(context_, size);
        return {pinned, pinned->address()};
    }
    const Bytes whole = (size + host_alignment - 1) / host_alignment * host_alignment;
    void* address = whole < size ? nullptr : std::aligned_alloc(host_alignment, whole);
    if (!address) throw_out_of_memory(*context_, "host memory", size, 0);
    return {address, std::free};
}

std::unique_ptr<Stream> OpenClDevice::make_stream(Timing timing) {
    return std::make_unique<QueueStream>(context_, timing);
}

std::unique_ptr<DeviceTexture> OpenClDevice::make_texture(const Memory& pixels, Bytes offset, int rows,
                                                          int columns) {
    check_range(pixels, offset, static_cast<Bytes>(rows) * static_cast<Bytes>(columns) * sizeof(float),
                info().id);
    return ImageObject::make(context_, own_memory<const Buffer>(pixels, info().id).native(), offset, rows,
                             columns);
}

bool OpenClDevice::reaches(const Device& other) const {
    const auto* same = dynamic_cast<const OpenClDevice*>(&other);
    return same && same->context_ == context_; // contexts do not share buffers
}

Bytes OpenClDevice::free_memory() const {
    const Bytes taken = context_->allocated.load();
    return taken < info().memory ? info().memory - taken : 0;
}

} // namespace headrace::opencl

namespace headrace {

OpenClTarget opencl_target(const Device& device) {
    const auto* opencl = dynamic_cast<const opencl::OpenClDevice*>(&device);
    if (!opencl)
        throw Error{ErrorKind::invalid_argument, "an OpenCL kernel needs an OpenCL device"}.on_device(
            device.info().id);
    return {opencl->context().get(), opencl->context().device()};
}

OpenClTarget opencl_target(const NativeStream& stream) {
    if (stream.technology != "opencl")
        throw Error{ErrorKind::invalid_argument,
                    "an OpenCL kernel was given a stream of " + std::string(stream.technology)};
    return {static_cast<cl_context>(stream.context), static_cast<cl_device_id>(stream.device)};
}

bool mixes_up_grids(const NativeStream& stream) { return stream.ordinal != 0; }

std::string stream_option(const NativeStream& stream) {
    return mixes_up_grids(stream) ? " -DHEADRACE_STREAM=" + std::to_string(stream.ordinal) : "";
}

} // namespace headrace
