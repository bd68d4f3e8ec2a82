"""Devices: which there are, and a session that keeps some of them open."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from . import _core


@dataclasses.dataclass(frozen=True)
class Device:
    """A device of this machine."""

    id: str  #: what device lists call it: "cpu", "cuda:0"
    name: str
    kind: str  #: "cpu", "gpu" or "accelerator"
    technology: str  #: "cpu", "cuda", "hip" or "opencl"
    memory: int  #: bytes
    compute_units: int
    driver: str
    peak_gflops: float  #: theoretical, in single precision


def _list_of(devices: str | Sequence[str]) -> str:
    return devices if isinstance(devices, str) else ",".join(devices)


class Session:
    """Devices that stay open from one call to the next.

        with headrace.Session("cuda:0,cpu") as session:
            sweep = [headrace.fluorescence(layers=skin(mua), session=session) for mua in range(1, 10)]

    devices: as the programs' --devices, a list of names or one string: "cpu", "cuda:0,cpu", "@devices.toml"; "" is all
    that are found, or those of the environment variable HEADRACE_DEVICES.
    policy, model, powers, window: as the programs' options of these names.
    Errors: Error for a device that is not there, when the first call needs it.
    """

    def __init__(
        self,
        devices: str | Sequence[str] = "",
        *,
        policy: str = "adaptive",
        model: str = "calibrated",
        powers: Mapping[str, float] | None = None,
        window: int = 2,
    ) -> None:
        self._core = _core.Session(
            devices=_list_of(devices), policy=policy, model=model, powers=dict(powers or {}), window=window
        )

    def devices(self) -> list[Device]:
        """The devices of this session."""
        return [Device(**device) for device in self._core.devices()]

    def close(self) -> None:
        """Closes the devices. Later calls with this session fail."""
        self._core.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def devices(devices: str | Sequence[str] = "") -> list[Device]:
    """The devices of this machine that a device list names; all of them unless told otherwise."""
    with Session(devices) as session:
        return session.devices()


class _Borrowed:
    """A caller's session, or one of its own for the time of a call."""

    def __init__(self, session: Session | None, devices: str | Sequence[str]) -> None:
        if session is not None and devices:
            raise TypeError("give a session or devices, not both")
        self._is_own = session is None
        self._session = session if session is not None else Session(devices)

    def __enter__(self):
        return self._session._core

    def __exit__(self, *exception: object) -> None:
        if self._is_own:
            self._session.close()


class _OnDevices:
    """What works on a session until it is closed: a picture that grows, bodies that move."""

    def __init__(self, borrowed: _Borrowed, begin) -> None:
        """`begin`: makes the part that is C++, of the session. If it fails, devices of its own are closed."""
        self._borrowed = borrowed
        try:
            self._core = begin(borrowed.__enter__())
        except BaseException:
            borrowed.__exit__()
            raise

    def close(self) -> None:
        """Closes devices that were opened for this alone."""
        self._borrowed.__exit__()

    def __enter__(self):
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
