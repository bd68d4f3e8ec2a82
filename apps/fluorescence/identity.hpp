// apps/fluorescence/identity.hpp - what the result of a run depends on.
#pragma once
#include "problem.hpp"
#include "settings.hpp"

#include <string>

namespace fluorescence {

/// Lines "name: value": the program, its kernels, and all that the input and the options say, for a
/// checkpoint.
[[nodiscard]] std::string identity_of(const Problem& problem, const Settings& settings);

} // namespace fluorescence
