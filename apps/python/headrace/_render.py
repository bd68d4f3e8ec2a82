"""Pictures, as headrace-path-tracer renders them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _core
from ._checks import _refuse, choice, real, whole
from ._session import Session, _Borrowed, _OnDevices

#: (ex, ey, ez, tx, ty, tz, degrees), perhaps with a roll; dict(eye=, target=, fov=, roll=); the name or number of one in
#: the scene; None: its first
Camera = Union[Sequence[float], Mapping[str, Any], str, int, None]


class Scene:
    """A scene, read and ready to be shown from many sides: glTF (.gltf, .glb), OBJ, PLY.

    albedo: reflectance of meshes without a material. environment: light from far away, an .hdr or .exr.
    allow_outside: files that it names may be outside of its folder. max_file_size: bytes.
    Errors: Error, with the file and the place in it.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        *,
        albedo: float = 0.8,
        environment: str | os.PathLike[str] | None = None,
        allow_outside: bool = False,
        max_file_size: int = 4 << 30,
    ) -> None:
        self._core = _core.Scene(
            file=os.fspath(file),
            albedo=real("albedo", albedo, 0, 1),
            environment=None if environment is None else os.fspath(environment),
            allow_outside=bool(allow_outside),
            largest=whole("max_file_size", max_file_size, 1, 1 << 62),
        )
        self._has_environment = environment is not None

    @property
    def notes(self) -> list[str]:
        """What of the file is not shown as it was meant."""
        return self._core.notes

    @property
    def cameras(self) -> list[str]:
        """Names of the scene's cameras; they may be empty."""
        return self._core.cameras

    @property
    def triangles(self) -> int:
        return self._core.triangles

    @property
    def bounds(self) -> np.ndarray:
        """The least and the greatest coordinates of what is shown, float64 [2, 3]."""
        return np.array(self._core.bounds)


def _camera(camera: Camera) -> tuple[list[float], str]:
    if camera is None:
        return [], ""
    if isinstance(camera, Mapping):
        unknown = set(camera) - {"eye", "target", "fov", "roll"}
        if unknown or not {"eye", "target"} <= set(camera):
            _refuse("camera: is dict(eye=(x, y, z), target=(x, y, z), fov=degrees, roll=degrees)")
        camera = [*camera["eye"], *camera["target"], camera.get("fov", 40), camera.get("roll", 0)]
    elif isinstance(camera, str):
        if "," not in camera:
            return [], camera
        camera = camera.split(",")
    elif isinstance(camera, int):
        return [], str(camera)
    try:
        numbers = [float(number) for number in camera]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in (7, 8):
        _refuse("camera: takes ex, ey, ez, tx, ty, tz, degrees from top to bottom, and perhaps a roll in degrees")
    return numbers, ""


class Rendering(_OnDevices):
    """A picture that grows. Iterating yields it again and again, with `every` more samples a pixel, up to `spp`.

        for picture in headrace.rendering("room.glb", spp=256, every=16):
            show(picture)
    """

    def __init__(self, borrowed: _Borrowed, begin: Any, spp: int, every: int) -> None:
        super().__init__(borrowed, begin)
        self._spp = spp
        self._every = every

    @property
    def samples(self) -> int:
        """Of each pixel, so far."""
        return self._core.samples

    @property
    def picture(self) -> np.ndarray:
        """Linear radiance in Rec. 709 primaries, float32 [height, width, 3], the top row first."""
        return self._core.picture()

    @property
    def report(self) -> dict[str, Any]:
        """As the program's --report."""
        return json.loads(self._core.report())

    def add(self, samples: int) -> None:
        """So many samples more of each pixel."""
        self._core.add(whole("samples", samples, 1, 2**32 - 1 - self.samples))

    def __iter__(self) -> Iterator[np.ndarray]:
        try:
            while self.samples < self._spp:
                self.add(min(self._every, self._spp - self.samples))
                yield self.picture
        finally:
            self.close()


def rendering(
    scene: str | os.PathLike[str] | Scene,
    camera: Camera = None,
    *,
    width: int = 640,
    height: int = 360,
    spp: int = 64,
    every: int = 8,
    seed: int = 1,
    max_depth: int = 8,
    roulette_from: int = 4,
    shadow_rays: int = 1,
    sky: Sequence[float] | float = 1.0,
    kernel: str = "producer",
    devices: str | Sequence[str] = "",
    session: Session | None = None,
) -> Rendering:
    """Begins a picture that grows. The arguments are those of `render`; `every`: samples a pixel between two pictures."""
    choice("kernel", kernel, ("consumer", "producer"))
    numbers, name = _camera(camera)
    most = 2**32 - 1
    width, height = whole("width", width, 1, most), whole("height", height, 1, most)
    if width * height > most:
        _refuse(f"width {width}, height {height}: at most {most} pixels together")
    colour = np.broadcast_to(np.asarray(sky, dtype=float), (3,)) if np.ndim(sky) < 2 else None
    if colour is None or not (np.isfinite(colour).all() and (colour >= 0).all()):
        _refuse("sky: takes red, green, blue, each 0 or more")
    if not isinstance(scene, Scene):
        scene = Scene(scene)
    spp, every = whole("spp", spp, 1, most), whole("every", every, 1, most)
    options = dict(
        camera=numbers,
        camera_name=name,
        width=width,
        height=height,
        expected_samples=spp,
        seed=whole("seed", seed, 0, 2**64 - 1),
        max_depth=whole("max_depth", max_depth, 1, 1 << 20),
        roulette_from=whole("roulette_from", roulette_from, 0, 1 << 20),
        shadow_rays=whole("shadow_rays", shadow_rays, 0, 1 << 16),
        sky=[float(part) for part in colour],
        kernel=kernel,
    )

    def begin(core: Any) -> Any:
        return _core.Rendering(core, scene._core, **options)

    return Rendering(_Borrowed(session, devices), begin, spp, every)


def render(
    scene: str | os.PathLike[str] | Scene,
    camera: Camera = None,
    *,
    width: int = 640,
    height: int = 360,
    spp: int = 64,
    seed: int = 1,
    max_depth: int = 8,
    roulette_from: int = 4,
    shadow_rays: int = 1,
    sky: Sequence[float] | float = 1.0,
    kernel: str = "producer",
    devices: str | Sequence[str] = "",
    session: Session | None = None,
) -> np.ndarray:
    """Renders a scene, and returns linear radiance in Rec. 709 primaries, float32 [height, width, 3].

    scene: a file, or a Scene that was read before. camera: see Camera.
    spp: samples (paths) a pixel. max_depth: segments of a path. roulette_from: the hit from which on Russian roulette
    may end a path; 0: never. shadow_rays: to lamps, at each hit; 0: lamps are found by chance alone.
    sky: radiance of what is not in the scene, one number or three.
    devices: see Session; or a session.
    Errors: Error, with the words of the program.
    """
    with rendering(
        scene,
        camera,
        width=width,
        height=height,
        spp=spp,
        every=spp,
        seed=seed,
        max_depth=max_depth,
        roulette_from=roulette_from,
        shadow_rays=shadow_rays,
        sky=sky,
        kernel=kernel,
        devices=devices,
        session=session,
    ) as growing:
        growing.add(spp)
        return growing.picture
