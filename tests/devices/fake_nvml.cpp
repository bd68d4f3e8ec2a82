// tests/devices/fake_nvml.cpp - as much of NVML as meters use, with two GPUs: one counts, one cannot.

namespace {

int counting = 0, old = 0;
unsigned long long millijoules = 1'000'000;
bool started = false;

bool same(const char* a, const char* b) {
    for (; *a != '\0' && *a == *b; ++a) ++b;
    return *a == *b;
}

constexpr int success = 0, uninitialized = 1, not_supported = 3, not_found = 6;

} // namespace

extern "C" {

int nvmlInit_v2() {
    started = true;
    return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** gpu) {
    if (!started) return uninitialized;
    if (same(address, "0000:3b:00.0"))
        *gpu = &counting;
    else if (same(address, "0000:86:00.0"))
        *gpu = &old;
    else
        return not_found;
    return success;
}

int nvmlDeviceGetTotalEnergyConsumption(void* gpu, unsigned long long* energy) {
    if (gpu != &counting) return not_supported;
    *energy = millijoules += 2500;
    return success;
}

const char* nvmlErrorString(int status) {
    return status == not_supported ? "Not Supported" : status == not_found ? "Not Found" : "Something Else";
}
}
