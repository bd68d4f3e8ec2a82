// devices/simt/host_call.hpp - a host function that runs in the order of a stream's work.
#pragma once
#include <headrace/devices/simt/runtime.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace headrace::HEADRACE_ON_SIMT {

/// Calls `work` in the driver's thread after the stream's earlier work. `work` must be short and must not
/// call the driver. It gets the stream's status: unlike the newer cudaLaunchHostFunc, this call also comes
/// when the device has failed, and other threads may wait for it.
inline void call_on_host(StreamHandle stream, std::function<void(Status)> work) {
    using Work = std::function<void(Status)>;
    auto owned = std::make_unique<Work>(std::move(work));
    HEADRACE_CALL(
        StreamAddCallback, stream,
        [](StreamHandle, Status status, void* user) {
            (*std::unique_ptr<Work>(static_cast<Work*>(user)))(status);
        },
        owned.get(), 0);
    static_cast<void>(owned.release()); // the callback owns it now
}

} // namespace headrace::HEADRACE_ON_SIMT
