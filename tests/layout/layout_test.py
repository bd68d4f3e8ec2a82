#!/usr/bin/env python3
"""The tree is as its documentation says."""
import collections
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import doc_lines
import include_graph

ROOT = include_graph.ROOT
SLEEPS = re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep|this_thread::yield)\b")
# Where tests may sleep: the two helpers, the measure of how late threads are woken, and a thread that only looks on.
SLEEPING = {"core/eventually.hpp", "core/takes.hpp", "core/quiet_machine.hpp", "persistent/injection_test.cpp"}
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")


# Of a test or a library: its name and its sources.
TARGET = re.compile(r"(?:headrace_test\((\w+)\b[^)]*?\bSOURCES\b|(?:headrace_library|add_library)\((\w+)\b)([^)]*)\)")
SOURCE = re.compile(r"(?<!\S)[\w/.-]+\.cpp")
TYPE = re.compile(r"^(?:class|struct|enum class|enum|union) (\w+)", re.M)
FUNCTION = re.compile(r"^(?:[\w:<>,*&]+ )+[*&]*(\w+\([^()]*\))(?= \{)", re.M)
VARIABLE = re.compile(r"^(?:constexpr|const|static) [\w:<>*& ,]*?(\w+)(?:\[[^]]*\])*(?: =|\{|;)", re.M)
NEXT_VARIABLE = re.compile(r"^(?:constexpr|const|static) [^;\n]*?, (\w+) = ", re.M)


def names_of_its_own(source):
    """What the source declares between `namespace {` and its end: types, functions with their parameters, variables."""
    names = set()
    for part in re.findall(r"^namespace \{\n(.*?)^\} // namespace\n", source.read_text(), re.M | re.S):
        names.update(TYPE.findall(part), VARIABLE.findall(part), NEXT_VARIABLE.findall(part))
        names.update(re.sub(r"\s+", " ", name) for name in FUNCTION.findall(part))
    return names


def pages():
    for page in ROOT.rglob("*.md"):
        if not {"build", "demo", ".git"} & set(page.relative_to(ROOT).parts):
            yield page


class Layout(unittest.TestCase):
    maxDiff = None  # a mistake is to be read whole

    def expect_none(self, mistakes):
        self.assertEqual("\n".join(sorted(set(mistakes))), "")

    def test_no_include_goes_up(self):
        self.expect_none(include_graph.mistakes())

    def test_there_are_includes_between_all_floors(self):
        pairs = {(a.parts[0], b.parts[0]) for a, b in include_graph.edges()}
        for pair in (("devices", "core"), ("persistent", "core"), ("domains", "persistent"), ("domains", "devices")):
            self.assertIn(pair, pairs)

    def test_documentation_names_the_right_lines(self):
        self.expect_none(doc_lines.mistakes())

    def test_links_of_pages_lead_somewhere(self):
        self.expect_none(f"{page.relative_to(ROOT)}: {link}" for page in pages() for link in LINK.findall(page.read_text())
                         if "://" not in link and not link.startswith("mailto:") and not (page.parent / link).exists())

    def test_maps_of_floors_are_short(self):
        self.expect_none(f"{floor}/README.md has more than 40 lines" for floor in include_graph.FLOORS
                         if len((ROOT / floor / "README.md").read_text().splitlines()) > 40)

    def test_examples_are_shorter_than_eighty_lines(self):
        lengths = {program.stem: sum(len(part.read_text().splitlines())
                                     for part in (program, program.with_suffix("").with_suffix(".kernels.hpp")))
                   for program in (ROOT / "apps" / "examples").glob("*.cpp")}
        self.assertGreater(len(lengths), 7)
        self.expect_none(f"{name}: {length} lines" for name, length in lengths.items() if length >= 80)

    def test_sources_of_a_target_have_names_of_their_own(self):
        """The sanitizers' builds compile the sources of a test or of a library as one."""
        found = 0
        mistakes = []
        for lists in (lists for floor in (*include_graph.FLOORS, "tests") for lists in (ROOT / floor).rglob("CMakeLists.txt")):
            for test, library, sources in TARGET.findall(lists.read_text()):
                names = collections.Counter(name for source in SOURCE.findall(sources)
                                            for name in names_of_its_own(lists.parent / source))
                found += len(names)
                mistakes += [f"{test or library}: several sources have {name}" for name, times in names.items() if times > 1]
        self.expect_none(mistakes)
        self.assertGreater(found, 500)

    def test_tests_do_not_sleep(self):
        tests = ROOT / "tests"
        self.expect_none(f"{file} sleeps: wait for what has to happen (tests/README.md, Times)"
                         for file in (path.relative_to(tests).as_posix() for path in tests.rglob("*.[ch]pp"))
                         if file not in SLEEPING and SLEEPS.search((tests / file).read_text()))

    def test_an_editor_finds_headers(self):
        flags = (ROOT / "compile_flags.txt").read_text().split()
        for floor in include_graph.FLOORS:
            for folder in (f"{floor}/include", f"{floor}/internal", floor):
                if (ROOT / folder).is_dir():
                    self.assertIn(f"-I{folder}", flags)


if __name__ == "__main__":
    unittest.main()
