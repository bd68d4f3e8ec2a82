// headrace.hpp - what most programs need. Pipelines (streams/pipeline.hpp) and traces have own headers.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/devices/discovery.hpp>
#include <headrace/domains/cluster/session.hpp>
#include <headrace/domains/cluster/thread_number.hpp>
#include <headrace/domains/domain.hpp>
#include <headrace/domains/epochs.hpp>
#include <headrace/domains/grids/launch.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/domains/job_handle.hpp>
#include <headrace/domains/runtime.hpp>
#include <headrace/domains/view.hpp>
