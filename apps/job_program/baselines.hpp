// apps/job_program/baselines.hpp - how long a job takes each device alone, for its report to compare with.
#pragma once
#include "program/command_line.hpp"
#include <headrace/domains/runtime.hpp>

#include <functional>

namespace job_program {

/// --baselines
void add_baselines_option(program::CommandLine& line, bool& wants_baselines);

/// Runs the job on each device of the runtime by itself, one after another; devices that cannot run it are
/// left out. `make_job` gives a job like the one to come, with results of its own that nobody looks at. The
/// runtime's model remembers the times. Throws what goes wrong with a job.
void measure_alone(headrace::Runtime& runtime, const std::function<headrace::Job()>& make_job);

} // namespace job_program
