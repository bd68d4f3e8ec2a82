// bench/starpu/session.cpp - see session.hpp.
#include "session.hpp"

#include <starpu.h>

#include <stdexcept>

namespace bench {

void check_starpu(int status, const char* call) {
    if (status != 0)
        throw std::runtime_error(std::string("StarPU: ") + call + " returns " + std::to_string(status));
}

void wait_for_starpu() { check_starpu(starpu_task_wait_for_all(), "starpu_task_wait_for_all"); }

StarPuSession::StarPuSession(const std::string& scheduler, StarPuDevices devices) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.sched_policy_name = scheduler.c_str();
    conf.ncuda = 0;
    if (!devices.processors) conf.ncpus = 0;
    if (!devices.opencl) conf.nopencl = 0;
    check_starpu(starpu_init(&conf), "starpu_init");
    if ((devices.processors && processors() == 0) || (devices.opencl && opencl_devices() == 0)) {
        starpu_shutdown();
        throw std::runtime_error("StarPU: not all of these devices are there. For OpenCL on a processor set "
                                 "STARPU_OPENCL_ON_CPUS=1; each OpenCL device takes one core");
    }
}

StarPuSession::~StarPuSession() { starpu_shutdown(); }

unsigned StarPuSession::processors() const { return starpu_cpu_worker_get_count(); }
unsigned StarPuSession::opencl_devices() const { return starpu_opencl_worker_get_count(); }

} // namespace bench
