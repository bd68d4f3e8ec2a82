// devices/opencl/memory.hpp - a buffer object as Memory.
#pragma once
#include "opencl/context.hpp"
#include <headrace/core/export.hpp>

#include <memory>
#include <utility>

namespace headrace::opencl {

class HEADRACE_EXPORT Buffer final : public Memory {
public:
    Buffer(std::shared_ptr<Context> context, BufferHandle buffer, Bytes size)
        : context_(std::move(context)), buffer_(std::move(buffer)), size_(size) {
        context_->allocated += size_;
    }
    ~Buffer() override { context_->allocated -= size_; }

    [[nodiscard]] Bytes size() const noexcept override { return size_; }
    [[nodiscard]] void* address() const noexcept override { return nullptr; }
    [[nodiscard]] void* handle() const noexcept override { return buffer_.get(); }

    [[nodiscard]] cl_mem native() const noexcept { return buffer_.get(); }
    [[nodiscard]] const Context& context() const noexcept { return *context_; }

private:
    std::shared_ptr<Context> context_;
    BufferHandle buffer_; // released before the context
    Bytes size_;
};

} // namespace headrace::opencl
