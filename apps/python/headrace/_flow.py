"""How the picture moves from one frame to the next, as headrace-optical-flow finds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._checks import _refuse, choice, host_array, real, whole
from ._session import Session, _Borrowed


def _brightness(frame: Any, name: str) -> np.ndarray:
    array = host_array(frame, name)
    if array.ndim != 2:
        _refuse(f"{name}: must be an array of brightness, [height, width]")
    if array.dtype.kind == "u":
        return array.astype(np.float32) / np.float32(np.iinfo(array.dtype).max)
    if array.dtype.kind != "f":
        _refuse(f"{name}: must have floats, 0 to 1, or unsigned integers")
    if not np.isfinite(array).all():
        _refuse(f"{name}: has brightness that is not finite")
    return array


def optical_flow(
    first: Any,
    second: Any,
    *,
    levels: int = 5,
    warps: int = 3,
    iterations: int = 500,
    alpha: float = 0.2,
    filter: str = "hardware",
    devices: str | Sequence[str] = "",
    session: Session | None = None,
) -> np.ndarray:
    """How far each pixel of the first frame moves until the second: float32 [height, width, 2], right and down.

    first, second: [height, width], brightness 0 to 1, or unsigned integers, whose largest value is 1. They may be on an
    NVIDIA GPU, or DLPack's.
    levels: of the pyramid. warps: of each level. iterations: of each warp. alpha: weight of smoothness.
    filter: "hardware", by texture units, or "exact".
    devices: see Session, of which the first one is used; or a session. Ctrl-C is heard when the pair is done.
    Errors: Error.
    """
    a, b = _brightness(first, "first"), _brightness(second, "second")
    choice("filter", filter, ("hardware", "exact"))
    with _Borrowed(session, devices) as core:
        return _core.optical_flow(
            core,
            a,
            b,
            levels=whole("levels", levels, 1, 16),
            warps=whole("warps", warps, 1, 1000),
            iterations=whole("iterations", iterations, 0, 1_000_000),
            alpha=real("alpha", alpha, 1e-12, 1e12),
            is_exact=filter == "exact",
        )
