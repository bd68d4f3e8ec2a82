#!/usr/bin/env python3
"""`headrace report` in a browser: no message in its console, and the numbers of its tables are those of the JSON.

    report_page_test.py PROGRAMS

Without Chromium (Debian's chromium) the page is read without a browser, and under CI that is a failure.
"""
import csv
import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
CHROMIUM = shutil.which("chromium")
TRIANGLE = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nf 1 2 3\n"
TWO_CPUS = "[[node]]\n" + 2 * "[[node.device]]\nkind = \"cpu\"\nthreads = 1\ncopies = \"private\"\n"
MCI = ["1.0", "2"] + 2 * ["layers.mco A", "20", "0.01 0.01", "10 10 3", "1", "1", "1.4 0.1 20 0.8 0.3", "1"]

RUNS = {
    "path-tracer": "headrace-path-tracer --devices @two.toml --scene s.obj --width 64 --height 64 --spp 4 --out o.png",
    "barnes-hut": "headrace-barnes-hut --devices cpu --plummer 1000 --steps 2",
    "fluorescence": "headrace-fluorescence --devices cpu --input two.mci",
    "coexec": "headrace-coexec --devices cpu --problem taylor --small",
    "sobel": "headrace-sobel --devices cpu --input memory:5 --width 64 --height 32 --output memory:1",
}


class Cells(html.parser.HTMLParser):
    """Numbers of tables: {(column, key): [texts]}; and what a page must not have."""

    def __init__(self, page):
        super().__init__()
        self.cells, self.open, self.foreign, self.titles = {}, None, [], 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.foreign += [v for k, v in attributes.items() if k in ("src", "href") and not v.startswith("data:")]
        self.foreign += [tag] if tag == "script" else []
        self.titles += tag == "title"
        if tag == "td" and "data-key" in attributes:
            self.open = self.cells.setdefault((attributes["data-column"], attributes["data-key"]), [])
            self.open.append("")

    def handle_data(self, data):
        if self.open is not None:
            self.open[-1] += data

    def handle_endtag(self, tag):
        if tag == "td":
            self.open = None


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="headrace pages ")
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "s.obj").write_text(TRIANGLE)
        (cls.folder / "two.toml").write_text(TWO_CPUS)
        (cls.folder / "two.mci").write_text("\n".join(MCI) + "\n")
        for name, command in RUNS.items():
            program, *words = command.split()
            cls.run_program(program, *words, "--quiet", "--report", name + ".json", "--trace", name + ".trace.json")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_program(cls, program, *words, expect=0):
        done = subprocess.run([PROGRAMS / program, *words], cwd=cls.folder, capture_output=True, text=True)
        assert done.returncode == expect, (program, words, done)
        return done

    def shown(self, page):
        """The page as a browser has it, which must have had nothing to say."""
        text = (self.folder / page).read_text()
        if CHROMIUM is None:
            self.assertFalse(os.environ.get("CI"), "no Chromium under CI (Debian's chromium)")
            return text
        done = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--dump-dom",
             f"--user-data-dir={self.folder / 'profile'}", (self.folder / page).as_uri()],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("CONSOLE", done.stderr)
        return done.stdout

    def test_numbers_are_those_of_the_json(self):
        for name in RUNS:
            with self.subTest(name):
                self.run_program("headrace", "report", name + ".json", "--html", name + ".html")
                report = json.loads((self.folder / (name + ".json")).read_text())
                job = report.get("job")
                runs = report.get("runs")
                if not isinstance(runs, list):
                    runs = [{**report, **job} if isinstance(job, dict) else report]
                page = Cells(self.shown(name + ".html"))
                self.assertEqual(page.foreign, [])
                self.assertGreaterEqual(page.titles, 3)
                compared = 0
                for number, run in enumerate(runs):
                    objects = [("value", run)] + [(device["id"], device) for device in run["devices"]]
                    for column, values in objects:
                        for key, value in values.items():
                            if isinstance(value, (int, float)) and not isinstance(value, bool):
                                self.assertEqual(json.loads(page.cells[(column, key)][number]), value, (column, key))
                                compared += 1
                self.assertGreater(compared, 8)

    def test_two_side_by_side_with_gantt_charts(self):
        self.run_program("headrace", "report", "path-tracer.json", "barnes-hut.json", "--trace", "path-tracer.trace.json",
                         "barnes-hut.trace.json", "--html", "both.html")
        text = self.shown("both.html")
        self.assertEqual(text.count('class="report"'), 2)
        self.assertEqual(text.count("What ran when"), 2)
        rects = text.count("<rect")
        requests = sum(event.get("ph") == "X" for name in ("path-tracer", "barnes-hut")
                       for event in json.loads((self.folder / (name + ".trace.json")).read_text())["traceEvents"])
        self.assertGreaterEqual(rects, requests)

    def test_names_are_text_and_not_html(self):
        report = json.loads((self.folder / "barnes-hut.json").read_text())
        report["devices"][0]["name"] = "<script>alert(1)</script>&\"'"
        report["devices"][0]["failure"] = "<b>lost</b>"
        (self.folder / "evil.json").write_text(json.dumps(report))
        self.run_program("headrace", "report", "evil.json", "--html", "evil.html")
        page = Cells(self.shown("evil.html"))
        self.assertEqual(page.foreign, [])
        self.assertEqual(page.cells[("cpu", "name")], ["<script>alert(1)</script>&\"'"])

    def test_csv_has_every_number(self):
        self.run_program("headrace", "report", "path-tracer.json", "--csv", "r.csv")
        with open(self.folder / "r.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        found = {(row["where"], row["key"]): row["value"] for row in rows}
        self.assertEqual({row["report"] for row in rows}, {"path-tracer.json"})

        def leaves(value, where=""):
            if isinstance(value, dict):
                for key, part in value.items():
                    yield from leaves(part, where + "/" + key)
            elif isinstance(value, list):
                for number, part in enumerate(value):
                    yield from leaves(part, f"{where}/{number}")
            else:
                yield where, value

        report = json.loads((self.folder / "path-tracer.json").read_text())
        flat = {(w if not k else w + "/" + k): v for (w, k), v in found.items()}
        for where, value in leaves(report):
            text = flat[where]
            self.assertEqual(text if isinstance(value, str) else json.loads(text), value, where)

    def test_what_is_no_report(self):
        (self.folder / "no.json").write_text("[1, 2")
        (self.folder / "list.json").write_text("[1, 2]")
        (self.folder / "odd.json").write_text('{"devices": [1], "seconds": 1}')
        for name, words in (("no", "is no JSON"), ("list", "report"), ("odd", "report"), ("absent", "absent.json")):
            done = self.run_program("headrace", "report", name + ".json", "--html", "x.html", expect=2)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.run_program("headrace", "report", "--html", "x.html", expect=2)
        self.run_program("headrace", "report", "barnes-hut.json", expect=2)
        self.run_program("headrace", "report", "barnes-hut.json", "--trace", "barnes-hut.json", "--html", "x.html", expect=2)


if __name__ == "__main__":
    unittest.main()
