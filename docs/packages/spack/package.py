# Headrace for Spack. Nobody has installed it yet: only its syntax is checked. There is no released archive so far, so it
# builds a checkout:  spack dev-build headrace@develop  in the root of the project, with this file in a repository of yours
# (spack repo create; packages/headrace/package.py).
from spack.package import *


class Headrace(CMakePackage, CudaPackage, ROCmPackage):
    """Irregular, data-parallel work on all devices of a machine at once, and of a cluster."""

    license("Apache-2.0")
    version("develop")

    variant("opencl", default=True, description="Devices that OpenCL shows")
    variant("mpi", default=True, description="Clusters")
    variant("python", default=False, description="The Python package's module")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("ninja", type="build")
    depends_on("intel-oneapi-tbb")
    depends_on("hwloc")
    depends_on("fmt")
    depends_on("spdlog")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("tomlplusplus")
    depends_on("openexr")
    depends_on("stb", type="build")
    depends_on("libpng")
    depends_on("libjpeg-turbo")
    depends_on("cairo+png")
    depends_on("hdf5")
    depends_on("openblas")
    depends_on("opencl-icd-loader", when="+opencl")
    depends_on("opencl-headers", type="build", when="+opencl")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.9:", when="+python", type=("build", "run"))
    depends_on("py-pybind11@2.10:", when="+python", type="build")
    depends_on("py-numpy@1.22:", when="+python", type="run")
    depends_on("hip", when="+rocm")

    conflicts("%gcc@:11", msg="C++20 as g++ 12 has it")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU: cuda_arch=90")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("HEADRACE_CUDA", "cuda"),
            self.define_from_variant("HEADRACE_HIP", "rocm"),
            self.define_from_variant("HEADRACE_OPENCL", "opencl"),
            self.define_from_variant("HEADRACE_MPI", "mpi"),
            self.define_from_variant("HEADRACE_PYTHON", "python"),
            self.define("HEADRACE_BUILD_TESTS", self.run_tests),
            self.define("HEADRACE_BUILD_BENCH", False),
        ]
        if self.spec.satisfies("+cuda"):
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        if self.spec.satisfies("+rocm"):
            arguments.append(self.define("HEADRACE_HIP_ARCHITECTURES", self.spec.variants["amdgpu_target"].value))
        return arguments
