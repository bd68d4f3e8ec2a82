// devices/opencl/image.cpp - see image.hpp.
#include "opencl/image.hpp"
#include <headrace/internal/devices/opencl/native.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace headrace::opencl {
namespace {

template <class T>
T value_of(cl_device_id device, cl_device_info what) {
    T value{};
    check(clGetDeviceInfo(device, what, sizeof value, &value, nullptr), "clGetDeviceInfo");
    return value;
}

constexpr cl_image_format one_float{CL_R, CL_FLOAT};

/// True if the device has images of one float: not every device has them.
bool has_format(cl_context context) {
    cl_uint count = 0;
    if (clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, &count) !=
        CL_SUCCESS)
        return false;
    std::vector<cl_image_format> formats(count);
    check(clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, count, formats.data(),
                                     nullptr),
          "clGetSupportedImageFormats");
    return std::ranges::any_of(formats, [](const cl_image_format& format) {
        return format.image_channel_order == one_float.image_channel_order &&
               format.image_channel_data_type == one_float.image_channel_data_type;
    });
}

} // namespace

std::unique_ptr<ImageObject> ImageObject::make(std::shared_ptr<Context> context, cl_mem pixels, Bytes offset,
                                               int rows, int columns) {
    const cl_device_id device = context->device();
    const auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(columns);
    if (!value_of<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) || !has_format(context->get()) ||
        width > value_of<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_WIDTH) ||
        height > value_of<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT))
        return nullptr;
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = width;
    shape.image_height = height;
    cl_int status = CL_SUCCESS;
    auto image = std::unique_ptr<ImageObject>(new ImageObject);
    image->is_part_ = value_of<cl_device_id>(device, CL_DEVICE_PARENT_DEVICE) != nullptr;
    const cl_mem_flags access = image->is_part_ ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY;
    image->image_ = BufferHandle{clCreateImage(context->get(), access, &one_float, &shape, nullptr, &status)};
    check(status, "clCreateImage");
    image->context_ = std::move(context);
    image->pixels_ = BufferHandle::retained(pixels);
    image->offset_ = offset;
    image->rows_ = height;
    image->columns_ = width;
    return image;
}

void ImageObject::refresh(const NativeStream& stream) {
    if (is_part_) return copy_by_kernel(stream);
    const std::array<std::size_t, 3> corner{}, size{columns_, rows_, 1};
    check(clEnqueueCopyBufferToImage(static_cast<cl_command_queue>(stream.stream), pixels_.get(),
                                     image_.get(), offset_, corner.data(), size.data(), 0, nullptr, nullptr),
          "clEnqueueCopyBufferToImage");
}

void ImageObject::copy_by_kernel(const NativeStream& stream) const {
    const std::string source =
        "__kernel void fill_picture(__global const float* from, ulong first, "
        "write_only image2d_t to) {"
        "    const int x = get_global_id(0), y = get_global_id(1);"
        "    write_imagef(to, (int2)(x, y), from[first + (ulong)y * get_global_size(0) + x]);"
        "}";
    const OpenClTarget target = opencl_target(stream);
    const std::string option = stream_option(stream);
    const auto kernel = shared_kernel(target, source + option, [&] {
        return make_kernel(build_program(target, source, option), "fill_picture");
    });
    const std::scoped_lock lock(kernel->mutex);
    const cl_kernel native = kernel->native.get();
    const cl_mem from = pixels_.get(), to = image_.get();
    const cl_ulong first = offset_ / sizeof(float);
    check(clSetKernelArg(native, 0, sizeof from, &from), "clSetKernelArg");
    check(clSetKernelArg(native, 1, sizeof first, &first), "clSetKernelArg");
    check(clSetKernelArg(native, 2, sizeof to, &to), "clSetKernelArg");
    const std::array<std::size_t, 2> size{columns_, rows_};
    check(clEnqueueNDRangeKernel(static_cast<cl_command_queue>(stream.stream), native, 2, nullptr,
                                 size.data(), nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
}

} // namespace headrace::opencl
