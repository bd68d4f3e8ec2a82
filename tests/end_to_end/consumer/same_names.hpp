#pragma once

/// True if kernels do what they should although others, or Headrace, have their names.
bool same_names_are_told_apart();
