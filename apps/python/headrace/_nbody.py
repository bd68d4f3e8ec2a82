"""Bodies that attract each other, as headrace-barnes-hut moves them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._checks import choice, host_array, real, whole
from ._session import Session, _Borrowed, _OnDevices


class NBody(_OnDevices):
    """Bodies, and steps of leapfrog (kick, drift, kick). Arrays are copies, in the order of the input."""

    def __init__(self, borrowed: _Borrowed, begin: Any, dt: float) -> None:
        super().__init__(borrowed, begin)
        self.dt = dt

    def step(self, steps: int = 1) -> NBody:
        """Moves the bodies by so many steps. If one fails or is interrupted, the bodies are not known any more."""
        self._core.step(whole("steps", steps, 0, 2**62))
        return self

    @property
    def positions(self) -> np.ndarray:
        """float64 [bodies, 3]"""
        return self._core.positions()

    @property
    def velocities(self) -> np.ndarray:
        """float64 [bodies, 3]"""
        return self._core.velocities()

    @property
    def accelerations(self) -> np.ndarray:
        """Where the bodies are now, float64 [bodies, 3]."""
        return self._core.accelerations()

    @property
    def potentials(self) -> np.ndarray:
        """Of each body in the field of the others, float64 [bodies]. They are computed when they are asked for."""
        return self._core.potentials()

    @property
    def time(self) -> float:
        return self._core.steps * self.dt

    @property
    def steps(self) -> int:
        return self._core.steps

    def totals(self) -> dict[str, Any]:
        """kinetic, potential, momentum and angular_momentum of all bodies."""
        return self._core.totals()

    def energy(self) -> float:
        totals = self.totals()
        return totals["kinetic"] + totals["potential"]

    @property
    def report(self) -> dict[str, Any]:
        """Of the jobs that computed forces: devices, times."""
        return json.loads(self._core.report())

    def __len__(self) -> int:
        return self._core.size


def nbody(
    positions: Any,
    velocities: Any = None,
    masses: Any = None,
    *,
    dt: float = 0.001,
    theta: float = 0.5,
    accuracy: float = 0.0,
    softening: float = 0.0,
    G: float = 1.0,
    order: str = "quadrupole",
    kernel: str = "producer",
    devices: str | Sequence[str] = "",
    session: Session | None = None,
) -> NBody:
    """Bodies that attract each other, ready to be moved: `nbody(...).step(10).positions`.

    positions, velocities: [bodies, 3]; velocities are 0 unless given. masses: [bodies]; 1 / bodies unless given.
    Arrays may be on an NVIDIA GPU, or DLPack's.
    dt: of a step. theta: opening angle, 0 to 1. accuracy: of an acceleration, instead of theta; 0: theta decides.
    softening: Plummer's length. G: the gravitational constant. order: "monopole" or "quadrupole".
    devices: see Session; or a session.
    Errors: Error.
    """
    positions = host_array(positions, "positions")
    count = len(positions) if positions.ndim > 0 else 0
    masses = np.full(count, 1 / max(count, 1)) if masses is None else host_array(masses, "masses")
    velocities = np.zeros((count, 3)) if velocities is None else host_array(velocities, "velocities")
    choice("order", order, ("monopole", "quadrupole"))
    choice("kernel", kernel, ("consumer", "producer"))
    dt = real("dt", dt, -1e100, 1e100)
    options = dict(
        dt=dt,
        theta=real("theta", theta, 0, 1),
        accuracy=real("accuracy", accuracy, 0, 1),
        softening=real("softening", softening, 0, 1e100),
        gravity=real("G", G, 1e-100, 1e100),
        quadrupole=order == "quadrupole",
        kernel=kernel,
    )

    def begin(core: Any) -> Any:
        return _core.NBody(core, positions, velocities, masses, **options)

    return NBody(_Borrowed(session, devices), begin, dt)


def plummer_sphere(bodies: int, seed: int = 1, G: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and masses of Plummer's sphere in equilibrium, of mass 1, with energy -G/4."""
    return _core.plummer_sphere(
        bodies=whole("bodies", bodies, 1, 2**32), seed=whole("seed", seed, 0, 2**64 - 1), gravity=real("G", G, 1e-100, 1e100)
    )
