// core/control/device.cpp - see device.hpp.
#include <headrace/core/device.hpp>

namespace headrace {

std::string_view to_string(DeviceKind kind) noexcept {
    switch (kind) {
    case DeviceKind::cpu:
        return "cpu";
    case DeviceKind::gpu:
        return "gpu";
    case DeviceKind::accelerator:
        return "accelerator";
    }
    return "unknown";
}

Event Stream::add(Memory& /*to*/, const Memory& /*from*/, Bytes /*offset*/, Bytes /*size*/,
                  NumberType /*type*/, std::span<const Event> /*after*/) {
    throw Error{ErrorKind::unsupported, "its streams add nothing: see Device::adds_from"};
}

Event Stream::take_changes(Memory& /*to*/, const Memory& /*from*/, Bytes /*offset*/, Bytes /*size*/,
                           const Changes& /*changes*/, std::span<const Event> /*after*/) {
    throw Error{ErrorKind::unsupported, "its streams take no changes: see Device::adds_from"};
}

} // namespace headrace
