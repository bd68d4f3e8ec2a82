// devices/simt/device.cpp - see device.hpp.
#include <headrace/devices/simt/device.hpp>

#include <string>

namespace headrace::HEADRACE_ON_SIMT {

SimtDevice::SimtDevice(int ordinal, DeviceInfo info) try
    : context_(std::make_shared<Context>(ordinal, info)) {
} catch (const Error& error) {
    Error told = error;
    throw told.on_device(info.id);
}

std::unique_ptr<Memory> SimtDevice::allocate(Bytes size) {
    return std::make_unique<DeviceMemory>(context_, size);
}

std::shared_ptr<void> SimtDevice::allocate_host(Bytes size) {
    if (size == 0) throw Error{ErrorKind::invalid_argument, "an allocation of 0 bytes"}.on_device(info().id);
    context_->make_current();
    void* memory = nullptr;
    const Status status = allocate_pinned(&memory, size);
    if (status == out_of_memory) {
        static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
        throw Error{ErrorKind::out_of_memory,
                    "the host cannot pin " + std::to_string(size) + " bytes of memory more"}
            .on_device(info().id)
            .with_code(static_cast<std::int64_t>(status));
    }
    expect_success(status, "allocating pinned memory");
    return {memory, PinnedDeleter{}};
}

std::unique_ptr<Stream> SimtDevice::make_stream() { return std::make_unique<SimtStream>(context_); }

bool SimtDevice::reaches(const Device& other) const {
    const auto* const peer = dynamic_cast<const SimtDevice*>(&other);
    return peer && peer->context_->admit(context_->ordinal());
}

} // namespace headrace::HEADRACE_ON_SIMT
