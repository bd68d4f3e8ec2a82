// Read by C++ and OpenCL C.
#ifndef CONSUMER_HALF_H
#define CONSUMER_HALF_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(consumer)
HEADRACE_FUNCTION float half_of(float number) { return number / 2; }
HEADRACE_END_NAMESPACE

#endif
