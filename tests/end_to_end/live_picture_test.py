#!/usr/bin/env python3
"""`headrace-path-tracer --serve`: who may look, what is shown, how the camera turns, and that a browser has no complaint.

    live_picture_test.py PROGRAM

Without Chromium (Debian's chromium) the browser's part is skipped, and under CI that is a failure.
"""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
CHROMIUM = shutil.which("chromium")
if subprocess.run([PROGRAM, "--serve", "0", "--scene", "/dev/null"], capture_output=True, text=True).stderr.find("no web server") >= 0:
    print("skipped: this build has no web server")
    sys.exit(77)


class LivePicture(unittest.TestCase):
    WANTED = 24

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="headrace live ")
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        (self.folder / "s.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nf 1 2 3\n")
        self.program = subprocess.Popen(
            [PROGRAM, "--scene", "s.obj", "--width", "96", "--height", "64", "--spp", str(self.WANTED), "--devices", "cpu", "--serve", "0",
             "--quiet"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.program.stdout.close)
        self.addCleanup(self.program.wait)
        self.addCleanup(self.program.kill)
        self.url = self.program.stdout.readline().strip()
        self.base, self.token = self.url.split("?")

    def get(self, path, more="", body=None, host=None):
        request = urllib.request.Request(f"{self.base}{path}?{self.token}{more}", data=body)
        if host:
            request.add_header("Host", host)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read()

    def expect_refused(self, code, **request):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.get(**request)
        self.assertEqual(caught.exception.code, code)
        caught.exception.close()

    def state(self):
        return json.loads(self.get("state"))

    def all_samples(self):
        end = time.monotonic() + 60
        while (state := self.state())["samples"] < self.WANTED:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return state

    def test_only_who_knows_the_token_sees_it(self):
        self.assertTrue(self.base.startswith("http://127.0.0.1:"))
        self.assertRegex(self.token, "^token=[0-9a-f]{32}$")
        good, self.token = self.token, "token=" + "0" * 32
        for path in ("", "state", "picture.png"):
            self.expect_refused(403, path=path)
        self.expect_refused(403, path="view", body=b"{}")
        self.token = good
        self.expect_refused(403, path="state", host="evil.example:80")
        port = int(self.base.rstrip("/").split(":")[-1])
        listening = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        self.assertEqual({row[1] for row in listening if row[3] == "0A" and row[1].endswith(f":{port:04X}")}, {f"0100007F:{port:04X}"})

    def test_grows_and_turns(self):
        state = self.all_samples()
        self.assertEqual((state["width"], state["height"], state["wanted"]), (96, 64, self.WANTED))
        self.assertEqual([d["id"] for d in state["devices"]], ["cpu"])
        self.assertAlmostEqual(sum(d["share"] for d in state["devices"]), 1)
        first = self.get("picture.png")
        self.assertEqual(first[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", first[16:24]), (96, 64))
        self.assertNotEqual(self.get("picture.png", "&exposure=-2"), first)

        def show(view):
            before = self.state()["picture"]
            self.get("view", body=json.dumps(view).encode())
            end = time.monotonic() + 60
            while (state := self.state())["picture"] == before or state["samples"] < self.WANTED:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            return self.get("picture.png")

        view = state["view"]
        self.assertNotEqual(show({**view, "eye": [2, 1, 2]}), first)
        self.assertEqual(self.state()["view"]["eye"], [2, 1, 2])
        # The same picture again. Threads add in whichever order, so a last bit may round one byte otherwise.
        self.assertTrue(any(show({**view, "roll": 0}) == first for _ in range(5)))

    def test_views_that_are_none_are_refused(self):
        state = self.all_samples()
        for body in (b"", b"[]", b"{\"eye\": [1, 2]}", json.dumps({**state["view"], "fov": 200}).encode(),
                     json.dumps({**state["view"], "eye": state["view"]["target"]}).encode(), b"x" * 3000):
            self.expect_refused(400, path="view", body=body)
        self.assertEqual(self.state()["view"], state["view"])

    def test_a_browser_shows_it_without_complaint(self):
        if CHROMIUM is None:
            self.assertFalse(os.environ.get("CI"), "no Chromium under CI (Debian's chromium)")
            self.skipTest("no Chromium")
        self.all_samples()
        done = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--dump-dom",
             "--virtual-time-budget=3000", f"--user-data-dir={self.folder / 'profile'}", self.url],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("CONSOLE", done.stderr)
        self.assertIn(f"{self.WANTED} of {self.WANTED} samples a pixel", done.stdout)
        self.assertIn("cpu: 100.0 %", done.stdout)
        self.assertRegex(done.stdout, r'src="/?picture\.png\?token=')

    def test_ctrl_c_ends_it_and_the_port_is_free_again(self):
        self.all_samples()
        self.program.send_signal(signal.SIGINT)
        self.assertEqual(self.program.wait(timeout=10), 0)
        self.assertEqual(list(self.folder.glob("*.png")), [])
        with self.assertRaises(urllib.error.URLError):
            self.state()


class Mistakes(unittest.TestCase):
    def test_are_told(self):
        for words, options in (("--serve", ["--serve", "70000"]), ("--serve and --out", ["--serve", "0", "--out", "x.png"]),
                               ("--serve and --time", ["--serve", "0", "--time", "3"])):
            done = subprocess.run([PROGRAM, "--scene", "s.obj", *options], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
