// apps/barnes_hut/barnes_hut.cl - the kernels of barnes_hut.kernels.hpp in OpenCL C.
