// devices/simt/device.cpp - see device.hpp.
#include "simt/device.hpp"
#include "check_range.hpp"
#include "simt/pinned.hpp"
#include "simt/texture.hpp"
#include <headrace/internal/devices/serial_executor.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {
namespace {

/// Gives all open devices access to each other's memory from the start. If access is granted only when it is
/// first needed, kernels that use the memory at that time may fail (cudaErrorLaunchFailure, H200, driver
/// 580).
void introduce(const std::shared_ptr<Context>& newcomer) {
    static std::mutex mutex;
    static std::vector<std::weak_ptr<Context>> open;
    const std::scoped_lock lock(mutex);
    std::erase_if(open, [](const auto& one) { return one.expired(); });
    for (const auto& one : open)
        if (const auto other = one.lock()) try {
                static_cast<void>(other->admit(newcomer->ordinal()));
                static_cast<void>(newcomer->admit(other->ordinal()));
            } catch (const Error&) { // then copies go through the host; a later call reports why
            }
    open.push_back(newcomer);
}

} // namespace

SimtDevice::SimtDevice(int ordinal, DeviceInfo info) try
    : context_(make_destroyed_by_executor<Context>(ordinal, info)) {
    introduce(context_);
} catch (const Error& error) {
    Error told = error;
    throw told.on_device(info.id);
}

std::unique_ptr<Memory> SimtDevice::allocate(Bytes size) {
    return std::make_unique<DeviceMemory>(context_, size);
}

std::shared_ptr<void> SimtDevice::allocate_host(Bytes size) {
    if (size == 0) throw Error{ErrorKind::invalid_argument, "an allocation of 0 bytes"}.on_device(info().id);
    void* memory = nullptr;
    const Status status = PinnedPool::of_process().take(context_->ordinal(), context_->node(), &memory, size);
    if (status == out_of_memory) {
        static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
        throw Error{ErrorKind::out_of_memory,
                    "the host cannot pin " + std::to_string(size) + " bytes of memory more"}
            .on_device(info().id)
            .with_code(static_cast<std::int64_t>(status));
    }
    expect_success(status, "allocating pinned memory");
    return {memory, [](void* pinned) { PinnedPool::of_process().give_back(pinned); }};
}

std::unique_ptr<Stream> SimtDevice::make_stream(Timing timing) {
    return std::make_unique<SimtStream>(context_, timing);
}

std::unique_ptr<DeviceTexture> SimtDevice::make_texture(const Memory& pixels, Bytes offset, int rows,
                                                        int columns) {
    check_range(pixels, offset, static_cast<Bytes>(rows) * static_cast<Bytes>(columns) * sizeof(float),
                info().id);
    if (!TextureObject::possible(*context_, rows, columns)) return nullptr;
    return std::make_unique<TextureObject>(
        context_, own_memory<const DeviceMemory>(pixels, info().id).at(offset), rows, columns);
}

/// Pinned memory is mapped for every device, at its address on the host.
bool SimtDevice::reaches_host(const void* memory) const { return PinnedPool::of_process().holds(memory); }

bool SimtDevice::reaches(const Device& other) const {
    const auto* const peer = dynamic_cast<const SimtDevice*>(&other);
    return peer && peer->context_->admit(context_->ordinal());
}

/// Kernels reach memory in another device's pool. Only copies reach plain allocations there.
bool SimtDevice::adds_from(const Device& other) const {
    return &other == this || (reaches(other) && dynamic_cast<const SimtDevice&>(other).context_->has_pool());
}

} // namespace headrace::HEADRACE_ON_SIMT
