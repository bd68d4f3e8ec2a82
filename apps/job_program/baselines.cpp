// apps/job_program/baselines.cpp - see baselines.hpp.
#include "job_program/baselines.hpp"
#include "job_program/wait.hpp"

namespace job_program {

void add_baselines_option(program::CommandLine& line, bool& wants_baselines) {
    line.flag("--baselines", wants_baselines,
              "First the same on each device alone: the report then says what working together gains");
}

void measure_alone(headrace::Runtime& runtime, const std::function<headrace::Job()>& make_job) {
    for (const headrace::DeviceInfo* device : runtime.devices()) {
        headrace::Job job = make_job();
        job.only_on({device->id});
        try {
            wait_for(runtime.submit(job), job.work_units(), false);
        } catch (const headrace::Error& error) {
            if (error.kind() != headrace::ErrorKind::unsupported) throw;
        }
    }
}

} // namespace job_program
