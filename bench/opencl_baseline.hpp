// bench/opencl_baseline.hpp - what baselines in plain OpenCL need to say each time: checked calls, what frees
// itself, and a device by its number in the loader's order.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline void check(cl_int status, const char* call) {
    if (status != CL_SUCCESS)
        throw std::runtime_error(std::string(call) + ": error " + std::to_string(status));
}
#define CHECK(call) ::bench::check(call, #call)

template <auto Release>
struct Releases {
    template <class Handle>
    void operator()(Handle* handle) const {
        Release(handle);
    }
};
using Queue = std::unique_ptr<_cl_command_queue, Releases<clReleaseCommandQueue>>;
using Kernel = std::unique_ptr<_cl_kernel, Releases<clReleaseKernel>>;
using Memory = std::unique_ptr<_cl_mem, Releases<clReleaseMemObject>>;
using Event = std::unique_ptr<_cl_event, Releases<clReleaseEvent>>;

/// A device and a program for it.
class OpenCl {
public:
    OpenCl(unsigned number, std::string_view source) : device_(find(number)) {
        cl_int status = CL_SUCCESS;
        context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
        check(status, "clCreateContext");
        const char* text = source.data();
        const std::size_t length = source.size();
        program_.reset(clCreateProgramWithSource(context_.get(), 1, &text, &length, &status));
        check(status, "clCreateProgramWithSource");
        CHECK(clBuildProgram(program_.get(), 1, &device_, "-cl-std=CL1.2", nullptr, nullptr));
    }

    [[nodiscard]] std::string name() const {
        char text[256] = {};
        CHECK(clGetDeviceInfo(device_, CL_DEVICE_NAME, sizeof text, text, nullptr));
        return text;
    }
    [[nodiscard]] bool is_processor() const {
        cl_device_type type = 0;
        CHECK(clGetDeviceInfo(device_, CL_DEVICE_TYPE, sizeof type, &type, nullptr));
        return (type & CL_DEVICE_TYPE_CPU) != 0;
    }
    [[nodiscard]] Queue queue() const {
        cl_int status = CL_SUCCESS;
        Queue made(clCreateCommandQueue(context_.get(), device_, 0, &status));
        check(status, "clCreateCommandQueue");
        return made;
    }
    [[nodiscard]] Kernel kernel(const char* name) const {
        cl_int status = CL_SUCCESS;
        Kernel made(clCreateKernel(program_.get(), name, &status));
        check(status, "clCreateKernel");
        return made;
    }
    [[nodiscard]] Memory memory(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
        cl_int status = CL_SUCCESS;
        Memory made(clCreateBuffer(context_.get(), flags, bytes, nullptr, &status));
        check(status, "clCreateBuffer");
        return made;
    }

private:
    static cl_device_id find(unsigned number) {
        cl_uint platforms = 0;
        CHECK(clGetPlatformIDs(0, nullptr, &platforms));
        std::vector<cl_platform_id> all(platforms);
        CHECK(clGetPlatformIDs(platforms, all.data(), nullptr));
        for (cl_platform_id platform : all) {
            cl_uint devices = 0;
            if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) continue;
            std::vector<cl_device_id> ids(devices);
            CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr));
            if (number < devices) return ids[number];
            number -= devices;
        }
        throw std::runtime_error("there is no OpenCL device with this number");
    }

    cl_device_id device_;
    std::unique_ptr<_cl_context, Releases<clReleaseContext>> context_;
    std::unique_ptr<_cl_program, Releases<clReleaseProgram>> program_;
};

/// Host memory that the device copies to at full speed.
class Pinned {
public:
    Pinned(const OpenCl& device, cl_command_queue queue, std::size_t bytes)
        : memory_(device.memory(bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR)), queue_(queue) {
        cl_int status = CL_SUCCESS;
        address_ = clEnqueueMapBuffer(queue, memory_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                      nullptr, nullptr, &status);
        check(status, "clEnqueueMapBuffer");
    }
    ~Pinned() {
        clEnqueueUnmapMemObject(queue_, memory_.get(), address_, 0, nullptr, nullptr);
        clFinish(queue_);
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    [[nodiscard]] float* floats() const { return static_cast<float*>(address_); }
    [[nodiscard]] unsigned char* bytes() const { return static_cast<unsigned char*>(address_); }

private:
    Memory memory_;
    cl_command_queue queue_;
    void* address_ = nullptr;
};

} // namespace bench
