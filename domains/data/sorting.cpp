// domains/data/sorting.cpp - see sorting.hpp.
#include <headrace/domains/detail/sorting.hpp>

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>

namespace headrace::detail {

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& one) {
    tbb::parallel_for(std::size_t{0}, count, one, tbb::simple_partitioner());
}

} // namespace headrace::detail
