"""Builds headrace._core with CMake: the library and what Python needs of the programs, nothing else.

Devices: the CPU, OpenCL, and CUDA or HIP where there is a GPU of theirs now. Environment variables:
  HEADRACE_CMAKE_ARGS   more for CMake: "-DHEADRACE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real"
  HEADRACE_BUILD_DIR    a build folder that has the module already (build/release); nothing is built then
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


def version() -> str:
    return re.search(r"project\(headrace VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def technologies() -> list[str]:
    """Kernels take most of the time, so none are compiled that this machine cannot run."""
    is_nvidia, is_amd = os.path.exists("/dev/nvidiactl"), os.path.exists("/dev/kfd")
    chosen = [f"-DHEADRACE_CUDA={'AUTO' if is_nvidia else 'OFF'}", f"-DHEADRACE_HIP={'AUTO' if is_amd else 'OFF'}"]
    return chosen + ["-DCMAKE_CUDA_ARCHITECTURES=native"] if is_nvidia else chosen


class BuildWithCMake(build_ext):
    def build_extension(self, extension: Extension) -> None:
        target = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        built = os.environ.get("HEADRACE_BUILD_DIR") or self.build()
        (module,) = pathlib.Path(built, "python", "headrace").glob("_core*.so")
        shutil.copy2(module, target)

    def build(self) -> str:
        folder = str(ROOT / "build" / "python")
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        options = [
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_UNITY_BUILD=ON",
            "-DHEADRACE_PYTHON=ON",
            "-DHEADRACE_BUILD_TESTS=OFF",
            "-DHEADRACE_BUILD_BENCH=OFF",
            "-DHEADRACE_INSTALL=OFF",
            "-DHEADRACE_MPI=OFF",
            f"-DPython3_EXECUTABLE={sys.executable}",
        ]
        more = shlex.split(os.environ.get("HEADRACE_CMAKE_ARGS", ""))
        subprocess.check_call(["cmake", "-S", str(ROOT), "-B", folder, *generator, *options, *technologies(), *more])
        subprocess.check_call(
            ["cmake", "--build", folder, "--target", "headrace_python", "--parallel", str(os.cpu_count() or 1)]
        )
        return folder


setup(version=version(), ext_modules=[Extension("headrace._core", sources=[])], cmdclass={"build_ext": BuildWithCMake})
