// tests/domains/wrong_kernels/calls_the_host.cpp - what is host code compiles as ever.
#include "calls_the_host.kernels.hpp"
