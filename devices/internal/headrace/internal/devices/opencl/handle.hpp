// internal/devices/opencl/handle.hpp - OpenCL's reference-counted objects as values: a copy retains, the
// destructor releases.
#pragma once
#include <headrace/devices/opencl/check.hpp>

#include <utility>

namespace headrace::opencl {

/// One reference to an OpenCL object. No caller could act on a failed release, so its status is ignored.
template <class T, cl_int (*Retain)(T), cl_int (*Release)(T)>
class Handle {
public:
    Handle() = default;
    /// Takes over the reference that a clCreate or clEnqueue call returned.
    explicit Handle(T owned) noexcept : value_(owned) {}
    /// Adds a reference to an object that another owner holds.
    [[nodiscard]] static Handle retained(T borrowed) {
        check(Retain(borrowed), "retaining an OpenCL object");
        return Handle{borrowed};
    }
    Handle(const Handle& other) noexcept : value_(other.value_) {
        if (value_) Retain(value_);
    }
    Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    Handle& operator=(Handle other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Handle() {
        if (value_) Release(value_);
    }

    [[nodiscard]] T get() const noexcept { return value_; }
    explicit operator bool() const noexcept { return value_ != nullptr; }
    /// The address where a call may store a new reference; the old one is released first.
    [[nodiscard]] T* out() noexcept {
        *this = Handle{};
        return &value_;
    }

private:
    T value_ = nullptr;
};

using ContextHandle = Handle<cl_context, clRetainContext, clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, clRetainCommandQueue, clReleaseCommandQueue>;
using EventHandle = Handle<cl_event, clRetainEvent, clReleaseEvent>;
using BufferHandle = Handle<cl_mem, clRetainMemObject, clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, clRetainProgram, clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, clRetainKernel, clReleaseKernel>;

} // namespace headrace::opencl
