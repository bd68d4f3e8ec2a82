// kernel.hpp - what headers of kernels need. Each technology's compiler reads them, and with headrace.hpp
// it would take nearly twice as long.
#pragma once
#include <headrace/domains/append.hpp>
#include <headrace/domains/exact_sum.hpp>
#include <headrace/domains/grids/roles.hpp>
#include <headrace/domains/reduction.hpp>
#include <headrace/domains/view.hpp>
#include <headrace/persistent/kernel.hpp>
