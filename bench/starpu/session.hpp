// bench/starpu/session.hpp - StarPU while a program of its own is measured.
#pragma once
#include <string>

namespace bench {

/// What StarPU may compute on.
struct StarPuDevices {
    bool processors = true, opencl = false;
};

/// StarPU's threads look for tasks all the time, so they are there for no longer than they are measured.
/// There is one session at a time.
class StarPuSession {
public:
    /// Throws runtime_error, also if the devices are not there.
    StarPuSession(const std::string& scheduler, StarPuDevices devices);
    ~StarPuSession();
    StarPuSession(const StarPuSession&) = delete; // shuts down once
    StarPuSession& operator=(const StarPuSession&) = delete;

    [[nodiscard]] unsigned processors() const; ///< those that drive an accelerator left out
    [[nodiscard]] unsigned opencl_devices() const;
};

/// Throws runtime_error with the call's name for anything but 0.
void check_starpu(int status, const char* call);
void wait_for_starpu();

} // namespace bench
