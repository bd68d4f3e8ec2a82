// domains/grids/mirror.hpp - indices of grids that continue mirrored beyond their edges. Compiled for every
// technology.
#pragma once
#include <headrace/domains/grids/mirror.h>
