// apps/hotspot/simulate.hpp - the steps of a simulation, on one device or divided between several.
#pragma once
#include "controller_program/machine.hpp"
#include <headrace/headrace.hpp>

#include <functional>

namespace hotspot {

/// Steps `heat` `iterations` times, `fused` to a launch, and hands what each launch has made to `save`, on a
/// lane of its own: on the host, in order. Does not block. `spare` is as large as `heat`; one of the two
/// holds the result, and after a single launch it is `spare`.
///
/// Each device has a band of rows, as high as it is fast; the rows between two bands go from one to the other
/// because both use them.
void simulate(controller_program::Machine& machine, const headrace::Array<float>& power,
              headrace::Array<float>& heat, headrace::Array<float>& spare, int iterations,
              const std::function<void(headrace::In<float>)>& save);

} // namespace hotspot
