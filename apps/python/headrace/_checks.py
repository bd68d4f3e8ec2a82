"""Arguments: what is wrong with them, in the words of the programs; and arrays, wherever they are."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core


def _refuse(text: str) -> None:
    error = _core.Error(text)
    error.kind = "invalid argument"
    raise error


def choice(name: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        _refuse(f"{name}: is one of {', '.join(choices)}")
    return value


def whole(name: str, value: Any, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        _refuse(f"{name} {value}: must be a whole number from {least} to {most}")
    return number


def real(name: str, value: Any, least: float, most: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not least <= number <= most:
        _refuse(f"{name} {value}: must be a number from {least:g} to {most:g}")
    return number


def _from_cuda(interface: dict[str, Any], name: str) -> np.ndarray:
    """A copy of an array in the memory of an NVIDIA GPU, by its `__cuda_array_interface__`."""
    data, _ = interface["data"]
    array = np.empty(interface["shape"], dtype=np.dtype(interface["typestr"]))
    if interface.get("strides") is not None and tuple(interface["strides"]) != array.strides:
        _refuse(f"{name}: must be contiguous on the GPU")
    if array.size == 0:
        return array
    driver = ctypes.CDLL("libcuda.so.1")

    def call(function: str, *arguments: Any) -> None:
        if (code := getattr(driver, function)(*arguments)) != 0:
            _refuse(f"{name}: cannot be copied from the GPU: {function} says {code}")

    call("cuInit", 0)
    context = ctypes.c_void_p()
    of_context = 1  # CU_POINTER_ATTRIBUTE_CONTEXT
    call("cuPointerGetAttribute", ctypes.byref(context), of_context, ctypes.c_uint64(data))
    call("cuCtxPushCurrent_v2", context)
    try:
        call("cuCtxSynchronize")
        call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(data), ctypes.c_size_t(array.nbytes))
    finally:
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))
    return array


def host_array(value: Any, name: str) -> np.ndarray:
    """Anything array-like as a NumPy array: without a copy if its memory is the host's."""
    if isinstance(value, np.ndarray):
        return value
    if (interface := getattr(value, "__cuda_array_interface__", None)) is not None:
        return _from_cuda(interface, name)
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError) as error:
            _refuse(f"{name}: {error}")
    return np.asarray(value)
