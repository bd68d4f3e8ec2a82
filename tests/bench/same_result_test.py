#!/usr/bin/env python3
"""The programs whose effort is measured compute what the programs of the same name do.

    same_result_test.py FOLDER...      of programs
"""
import json
import pathlib
import subprocess
import sys
import unittest

FOLDERS = [pathlib.Path(argument) for argument in sys.argv[1:]]


def checksum_of(program, *options):
    place = next((folder / program for folder in FOLDERS if (folder / program).exists()), None)
    if place is None:
        raise unittest.SkipTest(f"{program} is not built")
    ran = subprocess.run([place, *options, "--devices", "cpu", "--quiet", "--report", "-"], capture_output=True, text=True,
                         check=False, timeout=60)
    if ran.returncode != 0:
        raise AssertionError(f"{program}: {ran.stderr}")
    return json.loads(ran.stdout)["checksum"]


class SameResult(unittest.TestCase):
    def expect_same(self, name, *options):
        # Both are sums in double precision of what the same kernels have computed; only their order may differ.
        program = checksum_of(f"headrace-{name.replace('_', '-')}", *options)
        self.assertAlmostEqual(checksum_of(f"effort_{name}", *options) / program, 1, places=9)
        self.assertNotEqual(program, 0)

    def test_hotspot(self):
        self.expect_same("hotspot", "--size", "97", "--iterations", "10")

    def test_matrix_pow(self):
        self.expect_same("matrix_pow", "--size", "97", "--steps", "5")

    def test_chain_matmul(self):
        self.expect_same("chain_matmul", "--size", "97", "--iterations", "3")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
