#!/usr/bin/env python3
"""Recipes that nobody can run here have at least the form that their tools want, and name files that are there."""
import ast
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "packages"


class Packages(unittest.TestCase):
    def test_the_spack_recipe_is_a_package(self):
        tree = ast.parse((FOLDER / "spack" / "package.py").read_text())
        (package,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        self.assertEqual(package.name, "Headrace")
        text = (FOLDER / "spack" / "package.py").read_text()
        options = set(re.findall(r'"(HEADRACE_\w+)"', text))
        cmake = "".join((ROOT / name).read_text() for name in ("CMakeLists.txt", "devices/cmake/HeadraceTechnologies.cmake"))
        for option in options:
            technology = option.removeprefix("HEADRACE_")
            self.assertTrue(option in cmake or re.search(rf"IN ITEMS [A-Z ]*\b{technology}\b", cmake), option)

    def test_the_dockerfile_has_instructions_alone(self):
        known = {"FROM", "RUN", "COPY", "WORKDIR", "ENV", "CMD"}
        text = re.sub(r"(?m)^#.*\n", "", (FOLDER / "Dockerfile").read_text())
        for line in re.sub(r"\\\n", " ", text).split("\n"):
            self.assertIn((line.split() or ["RUN"])[0], known, line)

    def test_the_apptainer_definition_has_a_head_and_sections(self):
        text = re.sub(r"(?m)^#.*\n", "", (FOLDER / "headrace.def").read_text())
        self.assertTrue(text.startswith("Bootstrap: docker\nFrom: "))
        self.assertEqual(set(re.findall(r"(?m)^%(\w+)", text)), {"files", "post", "environment", "runscript", "test"})

    def test_the_citation_has_the_version_of_the_project(self):
        citation = (ROOT / "CITATION.cff").read_text()
        version = re.search(r"project\(headrace VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        self.assertIn(f"\nversion: {version}\n", citation)
        for key in ("cff-version", "message", "title", "authors", "license"):
            self.assertRegex(citation, rf"(?m)^{key}:")


if __name__ == "__main__":
    unittest.main()
