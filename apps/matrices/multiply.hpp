// apps/matrices/multiply.hpp - c = a b on a controller's device.
#pragma once
#include <headrace/headrace.hpp>

namespace matrices {

/// Enqueues it, with the implementation that suits the device best.
///
/// Shapes    a [n x k], b [k x m], c [n x m]; c is neither of the others
/// Precision single; sums of up to k products
/// Errors    invalid_argument if the shapes do not fit; as headrace::launch
headrace::Event multiply(headrace::Controller& controller, const headrace::Array<float>& a,
                         const headrace::Array<float>& b, headrace::Array<float>& c);
/// Rows [first, last) of c alone, from those of a.
headrace::Event multiply(headrace::Controller& controller, const headrace::Array<float>& a,
                         const headrace::Array<float>& b, headrace::Array<float>& c, int first, int last);

} // namespace matrices
