// apps/coexec/blas_handles.hpp - a library's handles, one for each stream: two streams must not share the
// workspace of one.
#pragma once
#include <headrace/core/device.hpp>

#include <map>
#include <mutex>

namespace coexec {

/// Library: a type Handle, and `make_current`, `create` and `destroy`, the latter two for the device that is
/// current.
///
/// Threads   any; a stream's handle is for one at a time, as the stream is
template <class Library>
class BlasHandles {
public:
    using Handle = typename Library::Handle;

    BlasHandles() = default;
    BlasHandles(const BlasHandles&) = delete; // owns
    BlasHandles& operator=(const BlasHandles&) = delete;
    ~BlasHandles() {
        for (const auto& [stream, made] : handles_) {
            Library::make_current(made.ordinal);
            Library::destroy(made.handle);
        }
    }

    /// Made on first use, and kept: to make one takes longer than many a product.
    [[nodiscard]] Handle of(const headrace::NativeStream& stream) {
        const std::scoped_lock lock(mutex_);
        const auto found = handles_.find(stream.stream);
        if (found != handles_.end()) return found->second.handle;
        return handles_.emplace(stream.stream, Made{stream.ordinal, Library::create()}).first->second.handle;
    }

private:
    struct Made {
        int ordinal; ///< of its device
        Handle handle;
    };

    std::mutex mutex_;
    std::map<void*, Made> handles_; ///< by stream
};

} // namespace coexec
