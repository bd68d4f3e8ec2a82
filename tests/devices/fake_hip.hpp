// tests/devices/fake_hip.hpp - a HIP runtime made of host threads, so that the HIP backend runs where no AMD
// GPU is. It is linked in place of the real one. It keeps what the backend relies on: streams in order beside
// each other, events that are recorded again, one thread for all callbacks, and no call of the runtime from
// within one (that aborts).
#pragma once

namespace headrace::test::fake_hip {

/// From now on the device is lost: what runs ends, and every call and callback reports an illegal address.
void lose_device();
void find_device_again();

/// What exists: a test expects none of it when all owners have gone.
struct Living {
    int streams, events, allocations;
    friend bool operator==(const Living&, const Living&) = default;
};
[[nodiscard]] Living living();

} // namespace headrace::test::fake_hip
