// apps/matrix_pow/power.hpp - the powers of a matrix, one product a step, each normalised on the host.
#pragma once
#include "controller_program/machine.hpp"
#include "matrices/normalise.hpp"
#include <headrace/headrace.hpp>

#include <vector>

namespace matrix_pow {

/// What steps work on beside A, all as large.
struct Matrices {
    headrace::Array<float>& power;      ///< C of every other step
    headrace::Array<float>& next;       ///< C of the others
    headrace::Array<float>& normalised; ///< of the last step that has ended; the host's alone
};

/// C = A, then C <- C A, once for each of `found`. A copy of every C is normalised by a host task, beside the
/// product that follows, which leaves what it found in `found`. Returns before the last steps have ended;
/// all that is given outlives the requests.
///
/// Each device has a band of rows of C, as high as it is fast. Those need nothing of each other.
/// Source  Y. Torres et al., "Supporting efficient overlapping of host-device operations for heterogeneous
///         programming with CtrlEvents", JPDC 2023, sec. 5
void raise(controller_program::Machine& machine, const headrace::Array<float>& a, const Matrices& matrices,
           std::vector<matrices::Normalisation>& found, matrices::HostThreads& threads);

} // namespace matrix_pow
