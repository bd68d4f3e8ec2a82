// devices/simt/host_call.hpp - a function on the host, in its place among a stream's work.
#pragma once
#include <headrace/devices/simt/runtime.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace headrace::HEADRACE_ON_SIMT {

/// Calls `work` once what the stream has so far is done, from the driver's thread: it must be short and must
/// not call the driver. It gets the stream's status, because this call, unlike the newer cudaLaunchHostFunc,
/// comes also when the device has failed, and somebody may be waiting for it.
inline void call_on_host(StreamHandle stream, std::function<void(Status)> work) {
    using Work = std::function<void(Status)>;
    auto owned = std::make_unique<Work>(std::move(work));
    HEADRACE_CALL(
        StreamAddCallback, stream,
        [](StreamHandle, Status status, void* user) {
            (*std::unique_ptr<Work>(static_cast<Work*>(user)))(status);
        },
        owned.get(), 0);
    static_cast<void>(owned.release()); // the callback's now
}

} // namespace headrace::HEADRACE_ON_SIMT
