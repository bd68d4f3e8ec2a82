#!/usr/bin/env python3
"""Every report is one that docs/report.schema.json describes, and one with a mistake is not.

    report_schema_test.py SCHEMA PROGRAMS SEEDS REPORT_SAMPLES [MPIRUN]

PROGRAMS and SEEDS are folders; REPORT_SAMPLES is the program that prints reports of the library. MPIRUN starts ranks. Without jsonschema (Debian's
python3-jsonschema): exit code 77, and 1 under CI.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SYSTEM = "/usr/bin/python3"  # has the system's packages
try:
    import jsonschema
except ImportError as why:
    if os.path.exists(SYSTEM) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])
    print(f"skipped: {why}; Debian has it as python3-jsonschema")
    sys.exit(1 if os.environ.get("CI") else 77)

SCHEMA, PROGRAMS, SEEDS, SAMPLES = [pathlib.Path(argument).resolve() for argument in sys.argv[1:5]]
MPIRUN = sys.argv[5] if len(sys.argv) > 5 else ""

TRIANGLE = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nf 1 2 3\n"
TWO_CPUS = "[[node]]\n" + 2 * "[[node.device]]\nkind = \"cpu\"\nthreads = 1\ncopies = \"private\"\n"
MCI = ["1.0", "2"] + 2 * ["layers.mco A", "20", "0.01 0.01", "10 10 3", "1", "1", "1.4 0.1 20 0.8 0.3", "1"]

# The definition in the schema, the program, and its arguments. Together they have every field that a processor gives.
ONE, TWO = "--devices cpu ", "--devices @two.toml "
RUNS = [
    ("path-tracer", "headrace-path-tracer", ONE + "--scene s.obj --width 16 --height 16 --spp 1 --out o.pfm"),
    ("path-tracer", "headrace-path-tracer", TWO + "--scene s.obj --width 16 --height 16 --spp 1 --out o.pfm --baselines"),
    ("path-tracer", "headrace-path-tracer", ONE + "--scene s.obj --width 16 --height 16 --adaptive 0.5 --kernel consumer --out o.pfm"),
    ("path-tracer", "headrace-path-tracer", ONE + "--scene s.obj --width 16 --height 16 --adaptive 0.5 --spp 8 --out o.pfm"),
    ("barnes-hut", "headrace-barnes-hut", ONE + "--plummer 100 --steps 2 --kernel producer-node --snapshot-every 1 --output o.csv"),
    ("barnes-hut", "headrace-barnes-hut", TWO + "--restart o.000001.snapshot --steps 2"),
    ("chain-matmul", "headrace-chain-matmul", ONE + "--size 32 --iterations 2"),
    ("chain-matmul", "headrace-chain-matmul", TWO + "--size 32 --iterations 2"),
    ("coexec", "headrace-coexec", ONE + "--problem matmul --size 64"),
    ("coexec", "headrace-coexec", TWO + "--problem matmul --size 64 --verify --repeat 2"),
    ("fluorescence", "headrace-fluorescence", ONE + "--photons 1000 --input {seeds}/layers.mci"),
    ("fluorescence", "headrace-fluorescence", TWO + "--photons 1000 --input {seeds}/light.toml"),
    ("fluorescence", "headrace-fluorescence", ONE + "--input two.mci"),
    ("hotspot", "headrace-hotspot", ONE + "--size 32 --iterations 4"),
    ("mandelbrot", "headrace-mandelbrot", TWO + "--width 32 --height 32 --frames 2"),
    ("matrix-pow", "headrace-matrix-pow", ONE + "--mode sync --size 32 --steps 2"),
    ("optical-flow", "headrace-optical-flow", ONE + "--input memory:3 --width 64 --height 64"),
    ("optical-flow", "headrace-optical-flow", TWO + "--input memory:3 --width 64 --height 64 --map parts"),
    ("optical-flow", "headrace-optical-flow", ONE + "--input memory:2 --width 12 --height 8 --levels 2 --truth {seeds}/true.flo"),
    ("sobel", "headrace-sobel", ONE + "--input memory:2 --output memory:2 --width 32 --height 32"),
    ("sobel", "headrace-sobel", ONE + "--input {seeds}/film.y4m --output film.y4m"),
]
# With mpirun, as two ranks.
RUNS_OF_RANKS = [
    ("path-tracer", "headrace-path-tracer", ONE + "--scene s.obj --width 40 --height 20 --adaptive 0.1 --time 60 --spp 200 --out o.pfm"),
    ("path-tracer", "headrace-path-tracer", ONE + "--scene s.obj --width 16 --height 16 --spp 1 --out o.pfm"),
    ("fluorescence", "headrace-fluorescence", ONE + "--photons 1000 --input {seeds}/layers.mci"),
]
# More ranks than cores, bound to none, also as root in a container; for Open MPI 4 and 5.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none",
       "LSAN_OPTIONS": "detect_leaks=0"}
# The keys that a report may lack, and that some reports here have.
OPTIONAL = {
    "job": {"failure", "ranks", "reserve"},
    "path-tracer": {"adaptive", "ranks"} if MPIRUN else {"adaptive"},
    "barnes-hut": {"restarted_from"},
    "chain-matmul": {"bottleneck", "stream_seconds"},
    "coexec": {"verdict"},
    "fluorescence": {"detectors", "ranks"} if MPIRUN else {"detectors"},
    "hotspot": {"bottleneck"},
    "mandelbrot": {"bottleneck"},
    "matrix-pow": {"bottleneck"},
    "optical-flow": {"bottleneck", "stream_seconds"},
    "sobel": {"bottleneck", "checksum"},
    "devices": set(),
}


def parts(value, path=()):
    """Each object in `value` and its path. Of a list, the first object of each set of keys."""
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from parts(inner, (*path, key))
    elif isinstance(value, list):
        seen = []
        for i, inner in enumerate(value):
            keys = sorted(inner) if isinstance(inner, dict) else None
            if keys not in seen:
                seen.append(keys)
                yield from parts(inner, (*path, i))


def changed(report, path, change):
    """A copy of the report, in which `change` was called with the object at `path`."""
    report = copy.deepcopy(report)
    part = report
    for step in path:
        part = part[step]
    change(part)
    return report


class ReportSchema(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(SCHEMA.read_text())
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        for name, text in (("s.obj", TRIANGLE), ("two.toml", TWO_CPUS), ("two.mci", "\n".join(MCI) + "\n")):
            (folder / name).write_text(text)
        # Open MPI begins in a folder of its own: in a shared one, two that begin at once may fail.
        environment = dict(os.environ, HEADRACE_CALIBRATIONS=str(folder / "calibrations.json"),
                           OMPI_MCA_orte_tmpdir_base=str(folder), PRTE_MCA_prte_tmpdir_base=str(folder), **MPI)

        def output_of(*command):
            ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)
            if ran.returncode != 0:
                raise AssertionError(f"{' '.join(map(str, command))}: {ran.stderr}")
            return json.loads(ran.stdout)

        cls.reports = []  # definition, what it is of, report
        cls.of_ranks = []
        ranks = [(run, (MPIRUN, "-n", "2")) for run in RUNS_OF_RANKS if MPIRUN]
        for (definition, program, arguments), launcher in [(run, ()) for run in RUNS] + ranks:
            if not (PROGRAMS / program).exists():
                continue  # not in this build
            command = f"{arguments} --quiet --report -".format(seeds=SEEDS).split()
            report = output_of(*launcher, PROGRAMS / program, *command)
            cls.reports.append((definition, f"{program} {arguments}", report))
            if launcher:
                cls.of_ranks.append(report)
        listed = output_of(PROGRAMS / "headrace", "devices", "--json")
        cls.reports.append(("devices", "headrace devices", listed))
        for i, sample in enumerate(output_of(SAMPLES)):
            cls.reports.append(("job", f"sample {i}", sample))

    def validator(self, definition=None):
        schema = self.schema if definition is None else {"$ref": f"#/$defs/{definition}", "$defs": self.schema["$defs"]}
        return jsonschema.Draft202012Validator(schema)

    def test_the_schema_is_one(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_every_report_is_valid(self):
        self.assertEqual({definition for definition, _, _ in self.reports}, set(OPTIONAL))
        self.assertEqual({each["$ref"].split("/")[-1] for each in self.schema["oneOf"]}, set(OPTIONAL))
        for definition, of, report in self.reports:
            for validator in (self.validator(definition), self.validator()):
                with self.subTest(of):
                    mistake = jsonschema.exceptions.best_match(validator.iter_errors(report))
                    self.assertIsNone(mistake, mistake and f"{mistake.json_path}: {mistake.message}")

    def test_a_report_begins_with_its_version(self):
        for _, of, report in self.reports:
            self.assertEqual(next(iter(report.items())), ("schema_version", 1), of)

    def test_a_rank_is_a_device(self):
        for report in self.of_ranks:
            self.assertEqual([device["id"] for device in report["devices"]], ["cpu", "rank:1"])
            self.assertEqual([rank["rank"] for rank in report["ranks"]], [0, 1])

    def test_a_report_with_a_mistake_is_invalid(self):
        may_lack = {definition: set() for definition in OPTIONAL}
        mutants = 0
        for definition, of, report in self.reports:
            validator = self.validator(definition)

            def is_valid(path, change):
                return validator.is_valid(changed(report, path, change))

            for path, part in parts(report):
                self.assertFalse(is_valid(path, lambda part: part.update(unheard_of=0)), f"{of}: {path} has another key")
                for key in part:
                    where = f"{of}: {(*path, key)}"
                    self.assertFalse(is_valid(path, lambda part: part.update({key + "s": part.pop(key)})), f"{where} is misspelt")
                    self.assertFalse(is_valid(path, lambda part: part.update({key: {"unheard_of": 0}})), f"{where} is of another type")
                    if is_valid(path, lambda part: part.pop(key)):
                        may_lack[definition].add(key)
                    mutants += 3
        self.assertEqual(may_lack, OPTIONAL)
        self.assertGreater(mutants, 1000)

    def test_the_page_explains_every_key(self):
        page = (SCHEMA.parent / "report.md").read_text()
        keys = set()
        json.loads(SCHEMA.read_text(), object_hook=lambda part: keys.update(part.get("properties", ())) or part)
        self.assertGreater(len(keys), 100)
        self.assertEqual(sorted(key for key in keys if f"`{key}`" not in page), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
