"""Light in layered tissue, as headrace-fluorescence simulates it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._checks import choice, real, whole
from ._session import Session, _Borrowed


@dataclasses.dataclass(frozen=True)
class Light:
    """What became of the light of one wavelength, for a beam of weight 1.

    `..._error`: standard errors; None where there were too few packets to tell.
    """

    above: float  #: what leaves the upper surface, without the specular part
    above_error: float | None
    below: float
    below_error: float | None
    absorbed: float
    absorbed_error: float | None
    absorbed_per_layer: np.ndarray  #: float64 [layers]
    absorption: np.ndarray  #: 1/cm3, float64 [nz, nr], or [nz, ny, nx]
    fluence: np.ndarray | None  #: 1/cm2, the same shape; None unless asked for
    escape_above: np.ndarray  #: 1/(cm2 sr), float64 [nr, na]; of "xyz" 1/cm2, [ny, nx]
    escape_below: np.ndarray
    detectors: list[dict[str, Any]]  #: packets, part and its error, mean path in each layer in cm
    gates: np.ndarray | None  #: float64 [2 + detectors, gates]: reflectance, transmittance, detectors; None without gates


@dataclasses.dataclass(frozen=True)
class Fluorescence:
    """What `fluorescence` found. Light is conserved: specular + Rd + Tt + A = 1, to rounding."""

    specular: float  #: reflected at the surface without a way through the tissue
    excitation: Light
    emission: Light  #: of fluorescent layers
    emitted: float  #: of emission, before any of it is absorbed again
    cut_off: float  #: was still under way after `most_steps`; it counts as absorbed
    dz: float  #: cm, of the grids
    dr: float
    report: dict[str, Any]  #: what the program writes as --report: results, devices, times

    @property
    def Rd(self) -> float:
        """Diffuse reflectance, without the specular part."""
        return self.excitation.above

    @property
    def Rd_error(self) -> float | None:
        return self.excitation.above_error

    @property
    def Tt(self) -> float:
        """Transmittance."""
        return self.excitation.below

    @property
    def Tt_error(self) -> float | None:
        return self.excitation.below_error

    @property
    def A(self) -> float:
        """The part that the tissue absorbs."""
        return self.excitation.absorbed

    @property
    def A_error(self) -> float | None:
        return self.excitation.absorbed_error

    @property
    def absorption(self) -> np.ndarray:
        """1/cm3, float64 [nz, nr]; with grid "xyz" [nz, ny, nx]. The outermost cells have what is beyond, too."""
        return self.excitation.absorption

    @property
    def fluence(self) -> np.ndarray | None:
        return self.excitation.fluence

    @property
    def z(self) -> np.ndarray:
        """Depths of the cells' middles, cm, float64 [nz]."""
        return (np.arange(self.absorption.shape[0]) + 0.5) * self.dz

    @property
    def r(self) -> np.ndarray:
        """Radii of the cells' middles, cm, float64 [nr]; of grid "rz"."""
        return (np.arange(self.absorption.shape[-1]) + 0.5) * self.dr


def _light(found: dict[str, Any]) -> Light:
    (above, above_error), (below, below_error), (absorbed, absorbed_error) = (
        found["above"],
        found["below"],
        found["absorbed"],
    )
    return Light(
        above=above,
        above_error=above_error,
        below=below,
        below_error=below_error,
        absorbed=absorbed,
        absorbed_error=absorbed_error,
        absorbed_per_layer=np.array([value for value, _ in found["layers"]]),
        absorption=found["absorption"],
        fluence=found.get("fluence"),
        escape_above=found["escape_above"],
        escape_below=found["escape_below"],
        detectors=found["detectors"],
        gates=found["gates"],
    )


def fluorescence(
    layers: Sequence[Mapping[str, Any]],
    photons: int = 10**6,
    *,
    n_above: float = 1.0,
    n_below: float = 1.0,
    source: Mapping[str, Any] | None = None,
    detectors: Sequence[Mapping[str, Any]] = (),
    time: Mapping[str, Any] | None = None,
    grid: str = "rz",
    cells: Mapping[str, Any] | None = None,
    fluence: bool = False,
    seed: int = 1,
    emission_weight: float = 0.1,
    most_steps: int = 1 << 29,
    kernel: str = "producer",
    devices: str | Sequence[str] = "",
    session: Session | None = None,
) -> Fluorescence:
    """Light in layers of tissue, by Monte Carlo, and the fluorescence that it excites.

    layers: the uppermost first; each a dict with `n`, `mua`, `mus` (1/cm), `g`, `d` (cm), and as in the program's TOML
        files `phase`, `emission=dict(mua=, mus=, g=)`, `fluorophore=dict(mua=, quantum_yield=)`.
    photons: packets. n_above, n_below: refractive indices outside.
    source: dict(kind="gaussian", radius=0.1) and so on; a pencil beam unless told. detectors, time: as [[detector]] and
        [time] in files.
    grid: "rz", by depth and radius, or "xyz". cells: its cells, dict(dz=0.01, dr=0.01, nz=100, nr=100, na=1), cm.
    fluence: also by the ways of packets, which takes longer on a CPU.
    devices: see Session; or a session.
    Errors: Error, with the words of the program, which layer and which key.
    """
    what = {
        "n_above": n_above,
        "n_below": n_below,
        "photons": photons,
        "seed": seed,
        "layer": [dict(layer) for layer in layers],
        "source": dict(source) if source is not None else None,
        "detector": [dict(detector) for detector in detectors] or None,
        "time": dict(time) if time is not None else None,
        "grid": dict(cells) if cells is not None else None,
    }
    choice("grid", grid, ("rz", "xyz"))
    choice("kernel", kernel, ("consumer", "producer"))
    with _Borrowed(session, devices) as core:
        found = _core.fluorescence(
            core,
            what,
            grid=grid,
            kernel=kernel,
            emission_weight=real("emission_weight", emission_weight, 1e-4, 1),
            most_steps=whole("most_steps", most_steps, 1000, 1 << 31),
            fluence=bool(fluence),
        )
    return Fluorescence(
        specular=found["specular"],
        excitation=_light(found["excitation"]),
        emission=_light(found["emission"]),
        emitted=found["emission"]["emitted"][0],
        cut_off=found["cut_off"],
        dz=found["dz"],
        dr=found["dr"],
        report=json.loads(found["report"]),
    )
