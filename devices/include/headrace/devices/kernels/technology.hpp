// devices/kernels/technology.hpp - a type for each technology, to choose among the units of a kernel.
#pragma once

namespace headrace::technology {

// `name` is that of DeviceInfo::technology.
struct Cpu {
    static constexpr const char* name = "cpu";
};
struct Cuda {
    static constexpr const char* name = "cuda";
};
struct Hip {
    static constexpr const char* name = "hip";
};
struct OpenCl {
    static constexpr const char* name = "opencl";
};

/// The technologies whose kernels are compiled from C++.
inline constexpr const char* of_cpp[] = {Cpu::name, Cuda::name, Hip::name};

} // namespace headrace::technology
