"""The Python package: what it returns is right, and what programs return; arguments, arrays, threads and Ctrl-C.

    PYTHONPATH=build/release/python HEADRACE_PROGRAMS=build/release/bin python3 tests/apps/python_test.py [-v] [CLASS]

HEADRACE_REQUIRE_DEVICES names technologies whose absence is a failure.
"""

import ctypes
import inspect
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no NumPy (Debian's python3-numpy)")
    sys.exit(77)
import headrace

PROGRAMS = pathlib.Path(os.environ["HEADRACE_PROGRAMS"])
SKIN = [dict(n=1.37, mua=1, mus=100, g=0.9, d=0.1), dict(n=1.37, mua=1, mus=10, g=0, d=0.1), dict(n=1.37, mua=2, mus=10, g=0.7, d=0.2)]


def device_lists():
    """Lists that every technology of this machine is in; those that must be there are, or this throws."""
    lists = ["cpu", "cpu,opencl:pocl"]
    for technology in ("cuda", "hip"):
        try:
            headrace.devices(technology)
        except headrace.Error:
            if technology in os.environ.get("HEADRACE_REQUIRE_DEVICES", ""):
                raise
        else:
            lists += [technology, "cpu," + technology]
    return lists


class Devices(unittest.TestCase):
    def test_are_those_of_the_program(self):
        (cpu,) = headrace.devices("cpu")
        self.assertEqual((cpu.id, cpu.kind, cpu.technology), ("cpu", "cpu", "cpu"))
        self.assertGreater(cpu.memory, 1 << 28)
        self.assertGreaterEqual(cpu.compute_units, 1)
        listed = json.loads(subprocess.check_output([PROGRAMS / "headrace", "devices", "--json"]))
        self.assertEqual([d["id"] for d in listed["devices"]], [d.id for d in headrace.devices()])

    def test_version(self):
        says = subprocess.check_output([PROGRAMS / "headrace", "--version"], text=True)
        self.assertIn(headrace.__version__, says)

    def test_names_are_strings_or_lists(self):
        self.assertEqual(headrace.devices(["cpu"]), headrace.devices("cpu"))
        with self.assertRaisesRegex(headrace.Error, "cuda:99") as caught:
            headrace.devices("cuda:99")
        self.assertEqual(caught.exception.kind, "not found")


class Fluorescence(unittest.TestCase):
    def test_finds_what_mcmls_manual_finds(self):
        for devices in device_lists():
            with self.subTest(devices):
                found = headrace.fluorescence(layers=SKIN, photons=300_000, devices=devices)
                self.assertAlmostEqual(found.specular, 0.024373, 6)
                for value, known, error in (
                    (found.Rd, 0.23792, 0.00020),
                    (found.A, 0.64153, 0.00020),
                    (found.Tt, 0.09617, 0.00011),
                ):
                    self.assertLess(abs(value - known), 5 * math.hypot(error, 0.0008))
                self.assertAlmostEqual(found.specular + found.Rd + found.Tt + found.A, 1, 9)
                self.assertAlmostEqual(found.excitation.absorbed_per_layer.sum(), found.A, 9)

    def test_is_what_the_program_finds_to_the_bit(self):
        with tempfile.TemporaryDirectory() as folder:
            toml, report = pathlib.Path(folder, "skin.toml"), pathlib.Path(folder, "r.json")
            layers = "\n".join("[[layer]]\n" + "\n".join(f"{k} = {v}" for k, v in layer.items()) for layer in SKIN)
            toml.write_text("seed = 7\n" + layers)
            grids = pathlib.Path(folder, "g")
            command = [PROGRAMS / "headrace-fluorescence", "--input", toml, "--photons", "20011", "--devices", "cpu"]
            subprocess.check_call(command + ["--quiet", "--report", report, "--grids", grids, "--no-fluence"])
            found = headrace.fluorescence(SKIN, 20011, seed=7, devices="cpu")
            np.testing.assert_array_equal(found.absorption, np.load(f"{grids}.absorption.npy"))
            np.testing.assert_array_equal(found.excitation.escape_above, np.load(f"{grids}.reflectance.npy"))
            by_program = json.loads(report.read_text())
            by_python = found.report
            for key in set(by_program) & set(by_python):
                if isinstance(by_program[key], dict) and "value" in by_program[key]:
                    self.assertEqual(by_program[key], by_python[key], key)

    def test_absorption_is_by_volume(self):
        found = headrace.fluorescence(SKIN, 50_000, cells=dict(dz=0.004, dr=0.02, nz=101, nr=37), devices="cpu")
        self.assertEqual((found.absorption.shape, found.absorption.dtype), ((101, 37), np.float64))
        self.assertEqual((found.dz, found.dr, len(found.z), len(found.r)), (0.004, 0.02, 101, 37))
        rings = 2 * np.pi * found.r * found.dr * found.dz
        self.assertAlmostEqual((found.absorption * rings).sum(), found.A, 6)
        xyz = headrace.fluorescence(SKIN, 5_000, grid="xyz", cells=dict(nz=11, nx=13, ny=17), devices="cpu")
        self.assertEqual(xyz.absorption.shape, (11, 17, 13))

    def test_fluorescence_is_conserved(self):
        layer = dict(n=1.4, mua=2, mus=100, g=0.8, d=1, emission=dict(mua=0.5, mus=80), fluorophore=dict(mua=1, quantum_yield=0.9))
        found = headrace.fluorescence([layer], 50_000, devices="cpu")
        light = found.emission
        self.assertGreater(found.emitted, 0.1)
        self.assertAlmostEqual(found.emitted, light.above + light.below + light.absorbed, 9)
        self.assertIsNone(found.fluence)
        with_fluence = headrace.fluorescence([layer], 2_000, fluence=True, devices="cpu")
        self.assertEqual(with_fluence.fluence.shape, with_fluence.absorption.shape)

    def test_sources_detectors_and_gates(self):
        found = headrace.fluorescence(
            SKIN, 20_000, source=dict(kind="gaussian", radius=0.05), detectors=[dict(position=0.2, radius=0.1), dict(position=[0, 0.1], radius=0.05, side="below")],
            time=dict(step=100, gates=7), devices="cpu")
        self.assertEqual(found.excitation.gates.shape, (4, 7))
        self.assertEqual([d["packets"] > 0 for d in found.excitation.detectors], [True, True])

    def test_takes_numpys_numbers(self):
        layer = dict(n=np.float32(1.5), mua=np.int64(10), mus=np.float64(90), g=np.float16(0), d=1e9)
        found = headrace.fluorescence([layer], np.int64(100_000), devices="cpu")
        self.assertAlmostEqual(found.Rd + found.specular, 0.25992, delta=0.006)

    def test_complains_of_the_layer_and_the_key(self):
        good = SKIN[0]
        cases = [
            ([good, {**good, "g": 2}], {}, "layer 2.*key \"g\""),
            ([{k: v for k, v in good.items() if k != "mua"}], {}, "layer 1.*key \"mua\" is missing"),
            ([{**good, "mu_a": 3}], {}, "layer 1.*\"mu_a\" means nothing here"),
            ([{**good, "d": -1}], {}, "layer 1.*\"d\""),
            ([{**good, "n": math.nan}], {}, "layer 1.*\"n\""),
            ([{**good, "mus": None}], {}, "\"mus\" is missing"),
            ([{**good, "mus": object()}], {}, "\"mus\": must be a number"),
            ([], {}, "no layers"),
            ([good], dict(photons=0), "photons"),
            ([good], dict(photons=2.5), "photons"),
            ([good], dict(photons=1 << 70), "photons"),
            ([good], dict(n_above=0), "n_above"),
            ([good], dict(grid="polar"), "grid: is one of rz, xyz"),
            ([good], dict(kernel="fast"), "kernel: is one of"),
            ([good], dict(cells=dict(nz=0)), "\"nz\""),
            ([good], dict(source=dict(kind="laser")), "a source is one of"),
            ([good], dict(emission_weight=0), "emission_weight"),
            ([good], dict(devices="tpu"), "no device answers to \"tpu\""),
        ]
        for layers, more, words in cases:
            with self.subTest(words), self.assertRaisesRegex(headrace.Error, words) as caught:
                headrace.fluorescence(layers, **{"photons": 100, "devices": "cpu", **more})
            self.assertTrue(caught.exception.kind)


class Render(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.scene = pathlib.Path(self.folder.name, "tetrahedron.obj")
        self.scene.write_text("v 1 1 1\nv -1 -1 1\nv -1 1 -1\nv 1 -1 -1\nf 1 2 4\nf 1 3 2\nf 1 4 3\nf 2 3 4\n")
        self.view = dict(eye=(0.3, 0.4, 5), target=(0, 0, 0), fov=40)

    def test_a_convex_thing_below_a_white_sky(self):
        for devices in device_lists():
            with self.subTest(devices):
                picture = headrace.render(self.scene, self.view, width=41, height=23, spp=3, roulette_from=0, devices=devices)
                self.assertEqual((picture.shape, picture.dtype), ((23, 41, 3), np.float32))
                middle, corner = picture[11, 20], picture[0, 0]
                np.testing.assert_allclose(middle, 0.8, atol=1e-5)
                np.testing.assert_allclose(corner, 1, atol=1e-6)

    def test_is_the_programs_picture(self):
        out = pathlib.Path(self.folder.name, "p.pfm")
        camera = "0.3,0.4,5,0,0,0,40"
        subprocess.check_call(
            [PROGRAMS / "headrace-path-tracer", "--scene", self.scene, "--camera", camera, "--width", "37", "--height", "19",
             "--spp", "5", "--seed", "11", "--devices", "cpu", "--out", out, "--quiet"])
        raw = out.read_bytes()
        by_program = np.frombuffer(raw[-37 * 19 * 12 :], "<f4").reshape(19, 37, 3)[::-1]
        for view in (camera, [float(n) for n in camera.split(",")], self.view):
            picture = headrace.render(self.scene, view, width=37, height=19, spp=5, seed=11, devices="cpu")
            np.testing.assert_allclose(picture, by_program, rtol=1e-6)  # floats, in whichever order threads add

    def test_grows(self):
        with headrace.Session("cpu") as session:
            scene = headrace.Scene(self.scene)
            options = dict(width=16, height=16, session=session)
            growing = headrace.rendering(scene, self.view, spp=10, every=4, **options)
            seen = [(growing.samples, picture.copy()) for picture in growing]
            self.assertEqual([samples for samples, _ in seen], [4, 8, 10])
            whole = headrace.render(scene, self.view, spp=10, **options)
            np.testing.assert_allclose(seen[-1][1], whole, rtol=1e-6)
            self.assertEqual(growing.report["work_units"] if "work_units" in growing.report else 2560, 2560)

    def test_tells_what_the_scene_has(self):
        scene = headrace.Scene(str(self.scene))
        self.assertEqual((scene.triangles, scene.cameras), (4, []))
        np.testing.assert_array_equal(scene.bounds, [[-1, -1, -1], [1, 1, 1]])

    def test_sky_and_albedo(self):
        scene = headrace.Scene(self.scene, albedo=0.5)
        picture = headrace.render(scene, self.view, width=9, height=9, spp=2, sky=(2, 1, 0), devices="cpu")
        np.testing.assert_allclose(picture[4, 4], [1, 0.5, 0], atol=1e-5)
        np.testing.assert_allclose(picture[0, 0], [2, 1, 0], atol=1e-6)

    def test_complains(self):
        cases = [
            (dict(width=0), "width 0"),
            (dict(width=1 << 20, height=1 << 20), "at most"),
            (dict(spp=0), "spp 0"),
            (dict(spp=2.5), "spp 2.5"),
            (dict(camera="1,2,3"), "camera: takes"),
            (dict(camera="nobody"), "camera"),
            (dict(camera=dict(eye=(0, 0, 1))), "camera: is dict"),
            (dict(camera=(0, 0, 0, 0, 0, 0, 40)), "camera|direction"),
            (dict(sky=(1, 1, -1)), "sky"),
            (dict(kernel="x"), "kernel"),
        ]
        for more, words in cases:
            with self.subTest(words), self.assertRaisesRegex(headrace.Error, words):
                headrace.render(self.scene, **{"devices": "cpu", "width": 8, "height": 8, **more})
        with self.assertRaisesRegex(headrace.Error, "absent.glb"):
            headrace.render(pathlib.Path(self.folder.name, "absent.glb"), devices="cpu")


def direct_sum(positions, masses, softening):
    apart = positions[None, :, :] - positions[:, None, :]
    square = (apart**2).sum(-1) + softening**2
    np.fill_diagonal(square, np.inf)
    return (masses[None, :, None] * apart / square[..., None] ** 1.5).sum(1)


class NBody(unittest.TestCase):
    def test_forces_and_steps_are_those_of_direct_sums(self):
        random = np.random.default_rng()
        positions, velocities = random.normal(size=(301, 3)), random.normal(size=(301, 3))
        masses = random.uniform(size=301)
        for devices in device_lists():
            with self.subTest(devices), headrace.nbody(positions, velocities, masses, dt=0.01, softening=0.2, theta=0, devices=devices) as bodies:
                expected = direct_sum(positions, masses, 0.2)
                scale = np.abs(expected).max()
                np.testing.assert_allclose(bodies.accelerations, expected, atol=2e-6 * scale)
                bodies.step(2)
                x, v, a = positions.copy(), velocities.copy(), expected
                for _ in range(2):
                    v = v + 0.005 * a
                    x = x + 0.01 * v
                    a = direct_sum(x, masses, 0.2)
                    v = v + 0.005 * a
                np.testing.assert_allclose(bodies.positions, x, atol=1e-7 * scale)
                np.testing.assert_allclose(bodies.velocities, v, atol=1e-6 * scale)
                self.assertEqual((bodies.steps, len(bodies)), (2, 301))
                self.assertAlmostEqual(bodies.time, 0.02)
                self.assertGreater(len(bodies.report), 0)

    def test_plummers_sphere(self):
        with headrace.nbody(*headrace.plummer_sphere(5000), softening=1e-3, devices="cpu") as bodies:
            self.assertAlmostEqual(bodies.energy(), -0.25, delta=0.02)
            before = bodies.positions
            bodies.step()
            self.assertGreater(np.abs(bodies.positions - before).max(), 0)
            self.assertEqual(bodies.potentials.shape, (5000,))
            self.assertLess(bodies.potentials.max(), 0)

    def test_complains(self):
        places = np.zeros((3, 3)) + np.arange(3)[:, None]
        for arguments, more, words in [
            ((places[:, :2],), {}, "positions: must be an array of shape"),
            ((places, places[:2]), {}, "velocities"),
            ((places, None, [1, 2]), {}, "positions"),
            ((places, None, [1, -1, 1]), {}, "masses: that of body 1"),
            ((places * np.nan,), {}, "not finite"),
            ((np.zeros((0, 3)),), {}, "masses"),
            ((places,), dict(theta=2), "theta 2"),
            ((places,), dict(dt="soon"), "dt soon"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(headrace.Error, words):
                headrace.nbody(*arguments, devices="cpu", **more)


class OpticalFlow(unittest.TestCase):
    @staticmethod
    def frames(dx=1.5, dy=0.75):
        y, x = np.mgrid[0:97, 0:131].astype(np.float64)

        def texture(x, y):
            return 0.5 + 0.2 * np.sin(0.31 * x) * np.cos(0.23 * y) + 0.15 * np.sin(0.11 * x + 0.17 * y)

        return texture(x, y), texture(x - dx, y - dy)

    def test_finds_a_shift(self):
        a, b = self.frames()
        for devices in device_lists():
            with self.subTest(devices):
                flow = headrace.optical_flow(a, b, iterations=100, devices=devices)
                self.assertEqual((flow.shape, flow.dtype), ((97, 131, 2), np.float32))
                inner = flow[20:-20, 20:-20].reshape(-1, 2)
                np.testing.assert_allclose(np.median(inner, axis=0), [1.5, 0.75], atol=0.1)

    def test_takes_bytes_and_is_deterministic(self):
        a, b = ((frame * 255).round().astype(np.uint8) for frame in self.frames())
        with headrace.Session("cpu") as session:
            first, second = (headrace.optical_flow(a, b, iterations=20, session=session) for _ in range(2))
        np.testing.assert_array_equal(first, second)
        as_floats = headrace.optical_flow(a / np.float32(255), b / np.float32(255), iterations=20, devices="cpu")
        np.testing.assert_array_equal(first, as_floats)

    def test_complains(self):
        a, b = self.frames()
        for first, second, more, words in [
            (a, b[1:], {}, "same shape"),
            (a[None], b, {}, r"\[height, width\]"),
            (a, b.astype(int), {}, "unsigned"),
            (a * np.inf, b, {}, "not finite"),
            (a, b, dict(levels=0), "levels 0"),
            (a, b, dict(filter="soft"), "filter"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(headrace.Error, words):
                headrace.optical_flow(first, second, devices="cpu", **more)


class OnlyDlpack:
    """An array of another library."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnNvidia:
    """An array in the memory of GPU 0, as CuPy and PyTorch have it."""

    def __init__(self, array):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context, pointer = ctypes.c_void_p(), ctypes.c_uint64()
        assert self.cuda.cuInit(0) == 0
        assert self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert self.cuda.cuCtxPushCurrent_v2(context) == 0
        assert self.cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(array.nbytes)) == 0
        assert self.cuda.cuMemcpyHtoD_v2(pointer, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)) == 0
        assert self.cuda.cuCtxPopCurrent_v2(ctypes.byref(context)) == 0
        self.__cuda_array_interface__ = dict(
            shape=array.shape, typestr=array.dtype.str, data=(pointer.value, False), version=3, strides=None)


class Arrays(unittest.TestCase):
    def test_of_other_libraries(self):
        positions = np.random.default_rng(1).normal(size=(50, 3))
        expected = headrace.nbody(positions, softening=0.1, devices="cpu").accelerations
        for other in (OnlyDlpack(positions), positions.tolist(), np.asfortranarray(positions)):
            found = headrace.nbody(other, softening=0.1, devices="cpu").accelerations
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.from_dlpack(expected), expected)  # and out

    def test_on_an_nvidia_gpu(self):
        try:
            headrace.devices("cuda")
        except headrace.Error as error:
            if "cuda" in os.environ.get("HEADRACE_REQUIRE_DEVICES", ""):
                raise
            self.skipTest(str(error))
        positions = np.random.default_rng(2).normal(size=(50, 3))
        expected = headrace.nbody(positions, softening=0.1, devices="cuda:0").accelerations
        found = headrace.nbody(OnNvidia(positions), softening=0.1, devices="cuda:0").accelerations
        np.testing.assert_array_equal(found, expected)


class Sessions(unittest.TestCase):
    def test_serve_many_calls_and_then_none(self):
        session = headrace.Session("cpu")
        values = {headrace.fluorescence(SKIN, 2000, session=session).Rd for _ in range(3)}
        self.assertEqual(len(values), 1)
        session.close()
        with self.assertRaisesRegex(headrace.Error, "the session is closed"):
            headrace.fluorescence(SKIN, 2000, session=session)
        with self.assertRaises(TypeError):
            headrace.fluorescence(SKIN, 2000, session=session, devices="cpu")

    def test_the_gil_is_free_and_threads_share_a_session(self):
        with headrace.Session("cpu") as session:
            found = []
            threads = [threading.Thread(target=lambda: found.append(headrace.fluorescence(SKIN, 400_000, session=session).Rd)) for _ in range(2)]
            for thread in threads:
                thread.start()
            longest, last = 0.0, time.monotonic()
            while any(thread.is_alive() for thread in threads):
                time.sleep(0.001)
                longest, last = max(longest, time.monotonic() - last), time.monotonic()
            self.assertEqual(len(found), 2)
            self.assertEqual(found[0], found[1])
            self.assertLess(longest, 0.5)

    def test_ctrl_c_ends_a_call(self):
        script = inspect.cleandoc(
            """
            import headrace, signal, time
            print("begins", flush=True)
            begin = time.monotonic()
            try:
                headrace.fluorescence([dict(n=1.4, mua=0.01, mus=300, g=0.9, d=5)], photons=10**10, devices="cpu")
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            # And the next call is as good as the first.
            print(headrace.fluorescence([dict(n=1.4, mua=1, mus=10, g=0, d=1)], photons=1000, devices="cpu").Rd > 0)
            """)
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "begins\n")
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            rest = process.communicate(timeout=60)[0]
            self.assertEqual(rest, "interrupted\nTrue\n")
            self.assertLess(time.monotonic() - sent, 10)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
