"""Light in tissue, pictures, bodies and optical flow on all devices of a machine at once.

    import headrace
    skin = headrace.fluorescence(layers=[dict(n=1.4, mua=3, mus=250, g=0.8, d=0.1)], photons=10**6)
    print(skin.Rd, skin.absorption.shape)

Each function opens the devices that it is told to use, and closes them. A Session keeps them open for many calls.
Threads may call anything at the same time; the GIL is free while devices work. Ctrl-C ends a call early.
"""

from __future__ import annotations

from ._core import Error, __version__
from ._flow import optical_flow
from ._nbody import NBody, nbody, plummer_sphere
from ._render import Rendering, Scene, render, rendering
from ._session import Device, Session, devices
from ._tissue import Fluorescence, Light, fluorescence

__all__ = [
    "Device",
    "Error",
    "Fluorescence",
    "Light",
    "NBody",
    "Rendering",
    "Scene",
    "Session",
    "__version__",
    "devices",
    "fluorescence",
    "nbody",
    "optical_flow",
    "plummer_sphere",
    "render",
    "rendering",
]
