#!/usr/bin/env python3
"""Development effort of sources whose counts are known."""
import importlib.util
import io
import math
import pathlib
import shutil
import sys
import tempfile
import unittest
from contextlib import redirect_stdout

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "bench" / "effort.py"
SPEC = importlib.util.spec_from_file_location("effort", PROGRAM)
effort = importlib.util.module_from_spec(SPEC)
sys.modules["effort"] = effort
SPEC.loader.exec_module(effort)

# Counted by hand, line by line as clang-format lays it out: tokens, and the decisions and functions of the line.
KNOWN = """
// A comment with if, while and "quotes".
#include <vector>                        // 2

int sign(int x) { /* ? : */              // 7; 1 function
    return x < 0 ? -1 : x > 0;           // 12; 1
}                                        // 1
"""
KNOWN_LINES = 4
KNOWN_TOKENS = 2 + 7 + 12 + 1
# Operators: #include  int ( int { return < ? - : > ;   12 of them, 11 different: int twice, and a pair of brackets as one.
# Operands:  <vector>  sign x x 0 1 x 0                  8 of them, 5 different.
KNOWN_HALSTEAD = 11 / 2 * 8 / 5 * (12 + 8) * math.log2(11 + 5)


def measure(text, name="source.cpp"):
    return effort.effort_of([effort.Source(name, text)])


def tokens(text, name="source.cpp"):
    return [token.text for token in effort.tokens_of(text, effort.KEYWORDS)]


class Effort(unittest.TestCase):
    def test_all_of_a_known_source(self):
        known = measure(KNOWN)
        self.assertEqual(known.lines, KNOWN_LINES)
        self.assertEqual(known.tokens, KNOWN_TOKENS)
        self.assertEqual(known.complexity, 2)
        self.assertAlmostEqual(known.halstead, KNOWN_HALSTEAD)

    def test_layout_and_comments_count_nothing(self):
        spread = KNOWN.replace(" ? ", "\n  // on\n  ?\n  ").replace("int x", "int\n\nx").replace(") {", ")\n{")
        self.assertEqual(measure(spread), measure(KNOWN))
        joined = KNOWN.replace("// 7; 1 function\n", "").replace("// 12; 1\n", "").replace("// 2\n", "\n")
        self.assertEqual(measure(joined), measure(KNOWN))

    def test_tokens_of_the_language(self):
        self.assertEqual(tokens('f(1.5e-3f, 0x1F, 1\'000u, "a \\" b", \'\\\'\', u8R"x(" )x");'),
                         ["f", "(", "1.5e-3f", ",", "0x1F", ",", "1'000u", ",", '"a \\" b"', ",", "'\\''", ",",
                          'u8R"x(" )x"', ")", ";"])
        self.assertEqual(tokens("a <<= b <=> c->*d ... e::f"),
                         ["a", "<<=", "b", "<=>", "c", "->*", "d", "...", "e", "::", "f"])

    def test_launches_are_told_from_templates(self):
        self.assertEqual(tokens("k<<<a, b>>>(c);"), ["k", "<<<", "a", ",", "b", ">>>", "(", "c", ")", ";"])
        self.assertEqual(tokens("A<B<C<int>>> d;").count(">>>"), 0)

    def test_directives_are_tokens_and_no_decisions(self):
        source = "#if defined(A) && !defined(B)\n#define C 1\n#endif\nint a;\n"
        self.assertEqual(measure(source).tokens, 11 + 3 + 1 + 3)
        self.assertEqual(measure(source).complexity, 0)
        macro = "#define M(a) f(a); \\\n    g(a)\n"
        self.assertEqual(measure(macro).tokens, 14)

    def test_decisions(self):
        body = {
            "if (a) b();": 1,
            "if (a && b || c) d();": 3,
            "for (int i = 0; i < 3; ++i) b();": 1,
            "do b(); while (a);": 1,
            "switch (a) { case 1: case 2: b(); break; default: c(); }": 2,
            "try { b(); } catch (int) { }": 1,
            "return a ? b : c ? d : e;": 2,
            "auto&& b = a; f(std::forward<T&&>(b));": 0,
            "int a[3]; auto [b, c] = d; e[f[0]] = 1;": 0,
        }
        for text, decisions in body.items():
            with self.subTest(text):
                self.assertEqual(measure(f"void f() {{ {text} }}").complexity, 1 + decisions)

    def test_functions(self):
        for text, count in {
            "void f();": 0,
            "namespace a { void f() {} int g() { return 1; } }": 2,
            "struct S { int a{1}; int b = 2; S() : a(1), b{2} {} ~S() {} int g() const noexcept { return a; } };": 3,
            "template <class T = int> struct S : B<T> { bool operator()(T) const { return true; } };": 1,
            "struct S { S& operator=(const S&) { return *this; } bool operator==(int) { return a; } };": 2,
            "int table[] = {1, 2}; std::array<int, 2> a{1, 2}; enum class E { a, b };": 0,
            "auto f() -> std::vector<int> { return {}; }": 1,
            'extern "C" { void f(void) { } } extern "C" int g() { return 0; }': 2,
            "__global__ void __launch_bounds__(256) k(float* a) { a[0] = 1; }": 1,
            "std::function<void(int)> f{nullptr}; void g(std::vector<int> a = {1, 2}) {}": 1,
            "S::S() try : a(1) { } catch (int) { } void f() {}": 3,  # a handler is a decision
            "class S { public: S() = default; private: void f() {} };": 1,
        }.items():
            with self.subTest(text):
                self.assertEqual(measure(text).complexity, count)

    def test_lambdas_are_functions(self):
        source = "void f() { g([] {}, [&](int a) { return a; }, [b = 1]() mutable { ++b; }, c[0], d()[1]); }"
        self.assertEqual(measure(source).complexity, 1 + 3)
        self.assertEqual(measure("[[nodiscard]] int f() { return a[b[0]]; }").complexity, 1)

    def test_opencl_has_words_of_its_own(self):
        def kinds(name):
            found = effort.tokens_of("kernel void k(global float* a);", effort.keywords_of(name))
            return {token.text: token.kind for token in found}

        self.assertEqual((kinds("k.cl")["kernel"], kinds("k.cl")["global"]), ("keyword", "keyword"))
        self.assertEqual((kinds("k.cpp")["kernel"], kinds("k.cpp")["global"]), ("name", "name"))

    def test_files_of_a_version_are_one_program(self):
        both = effort.effort_of([effort.Source("a.cpp", KNOWN), effort.Source("b.cpp", KNOWN)])
        self.assertEqual((both.lines, both.tokens, both.complexity), (2 * KNOWN_LINES, 2 * KNOWN_TOKENS, 4))
        self.assertAlmostEqual(both.halstead, 4 * KNOWN_HALSTEAD)  # twice as long, and each operand used twice as often

    def test_functions_of_another_version_are_left_out(self):
        one = "#include <a>\nint a;\nclass S {\n    void kept() const {\n        b();\n    }\n};\n"
        both = one.replace("};\n", "};\ntemplate <class T = int> [[nodiscard]] int S::gone(int c) const {\n    if (c)\n"
                           "        return c;\n    return 0;\n}\n")
        self.assertEqual(effort.effort_of([effort.Source("s.cpp", both, ["gone"])]), measure(one))
        self.assertNotEqual(measure(both), measure(one))
        with self.assertRaises(SystemExit) as told:
            effort.effort_of([effort.Source("s.cpp", one, ["gone"])])
        self.assertIn("s.cpp: there is no function gone", str(told.exception))

    def test_versions_are_compared_with_the_first(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "bench").mkdir()
            (root / "ours.cpp").write_text("int a;\n")
            (root / "theirs.cpp").write_text("int a; int b = 1;\nint c = 2 + 3;\n")
            (root / "bench" / "effort.toml").write_text(
                '[Program]\nOurs = ["ours.cpp"]\n"By hand" = ["theirs.cpp"]\n')
            printed = io.StringIO()
            with redirect_stdout(printed):
                effort.main([str(root / "bench" / "effort.toml")])
        rows = printed.getvalue().partition("\n|")[2].splitlines()
        self.assertRegex(rows[2], r"^\| Program \| Ours \| 1 \| 3 \| 0 \| \d+ \|  \|$")
        self.assertRegex(rows[3], r"^\| Program \| By hand \| 3 \| 15 \| 0 \| \d+ \| 80 % \|$")

    def test_what_the_table_names_is_there(self):
        printed = io.StringIO()
        with redirect_stdout(printed):
            effort.main([str(PROGRAM.with_suffix(".toml"))])
        self.assertGreater(printed.getvalue().count("| Headrace |"), 2)

    def test_mistakes_are_told(self):
        with self.assertRaises(SystemExit) as told, redirect_stdout(io.StringIO()):
            effort.main(["nowhere.cpp"])
        self.assertIn("nowhere.cpp", str(told.exception))


if __name__ == "__main__":
    if not (shutil.which("clang-format-14") or shutil.which("clang-format")):
        print("no clang-format on this machine")
        sys.exit(77)  # what tests/bench/CMakeLists.txt calls skipped
    unittest.main()
