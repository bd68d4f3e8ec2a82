#!/usr/bin/env python3
"""What it takes to write a program: lines, tokens, cyclomatic complexity and Halstead's effort of its sources.

    bench/effort.py FILE...             each file for itself
    bench/effort.py bench/effort.toml   versions of programs beside each other, each of one or more files

Prints a table in Markdown. C++, C, CUDA, HIP and OpenCL C. Needs clang-format, which lays all sources out alike: no line
breaks in expressions, each statement and each closing brace on a line of its own, and `&&` with blanks around it only
where it is an operator.

Lines       that a token begins on: neither comments nor blank lines
Tokens      of the language, those of preprocessor directives too; a string or a header's name is one
Complexity  McCabe, "A Complexity Measure", IEEE TSE 1976: the sum over all functions, lambdas among them, of 1 and the
            decisions: if, for, while, case, catch, ?, && and ||
Effort      Halstead, "Elements of Software Science", 1977: (n1 / 2) (N2 / n2) (N1 + N2) log2(n1 + n2). Operators are
            keywords, punctuation and directives, with a pair of brackets as one; operands are names and literals
Source      the four of Torres et al., "Supporting efficient overlapping of host-device operations for heterogeneous
            programming with CtrlEvents", JPDC 2023, sec. 5.4. Their tools are not named; what is compared is versions
            of one program, measured alike
"""
import dataclasses
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

LAYOUT = """{BasedOnStyle: LLVM, Standard: c++20, ColumnLimit: 100000, PointerAlignment: Left,
    DerivePointerAlignment: false, AllowShortFunctionsOnASingleLine: None, AllowShortBlocksOnASingleLine: Never,
    AllowShortIfStatementsOnASingleLine: Never, AllowShortLoopsOnASingleLine: false, AllowShortEnumsOnASingleLine: false,
    AllowShortCaseLabelsOnASingleLine: false, AllowShortLambdasOnASingleLine: None, SortIncludes: Never}"""

KEYWORDS = set("""
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do
    double dynamic_cast else enum explicit export extern false final float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq override private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template
    this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
    xor_eq
    __global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__ __forceinline__
    __kernel __global __local __constant __private __read_only __write_only __attribute__
""".split())
OPENCL_KEYWORDS = set("kernel global local constant private read_only write_only".split())

PIECE = re.compile(r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
  | (?P<literal> (?:u8|[uUL])?R"(?P<end>[^()\\\s]*)\(.*?\)(?P=end)"
             | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"\w*
             | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+'\w*
             | \.?[0-9](?:[eEpP][+-]|'?[\w.])* )
  | (?P<name> [A-Za-z_]\w* )
  | (?P<punctuation> <<< | >>> | <=> | ->\* | <<= | >>= | \.\.\. | :: | -> | \.\* | \+\+ | -- | && | \|\| | \#\#
             | [-+*/%&|^!=<>]= | << | >> | [][(){}<>;:,.?~!+*/%&|^=\#@$-] )
""", re.VERBOSE | re.DOTALL)


@dataclasses.dataclass
class Token:
    kind: str  # name, literal, keyword, punctuation, directive
    text: str
    line: int
    is_operator: bool  # of two operands, where && could also be a reference
    in_directive: bool


def lay_out(text):
    """All on one line but for directives, and without comments, so that nothing of the old layout is kept."""
    text = PIECE.sub(lambda piece: " " if piece["comment"] else piece[0].replace("\n", " "), text.replace("\\\n", " "))
    text = "".join(f"\n{line}\n" if line.lstrip().startswith("#") else line + " " for line in text.splitlines())
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        sys.exit("effort: needs clang-format, which is not installed")
    ran = subprocess.run([tool, f"--style={LAYOUT}", "--assume-filename=source.cpp"], input=text, text=True,
                         stdout=subprocess.PIPE, check=True)
    return ran.stdout


def keywords_of(file_name):
    return KEYWORDS | OPENCL_KEYWORDS if file_name.endswith(".cl") else KEYWORDS


def tokens_of(text, keywords):
    """The tokens of a source, in order."""
    text = text.replace("\\\n", " ")
    found, at, line, directive_line, launches = [], 0, 1, 0, 0
    while at < len(text):
        if text[at].isspace():
            line += text[at] == "\n"
            at += 1
            continue
        starts_line = text[:at].rpartition("\n")[2].strip() == ""
        if text[at] == "#" and starts_line:
            piece = re.compile(r"#[ \t]*\w*").match(text, at)
            found.append(Token("directive", piece[0].replace(" ", ""), line, False, True))
            directive_line = line
            at = piece.end()
            header = re.compile(r"[ \t]*(<[^>\n]*>)").match(text, at)
            if found[-1].text == "#include" and header:
                found.append(Token("literal", header[1], line, False, True))
                at = header.end()
            continue
        piece = PIECE.match(text, at)
        if not piece:
            raise ValueError(f"line {line}: no token begins with {text[at:at + 10]!r}")
        kind, word = piece.lastgroup, piece[0]
        if kind == "end":
            kind = "literal"
        if word == "<<<":
            launches += 1
        elif word == ">>>":  # a launch's end, or the ends of templates
            word = word if launches else ">>"
            launches -= launches > 0
        end = at + len(word)
        if kind != "comment":
            if kind == "name" and word in keywords:
                kind = "keyword"
            around = text[at - 1:at].isspace() and text[end:end + 1].isspace()
            found.append(Token(kind, word, line, around, line == directive_line))
        line += word.count("\n")
        at = end
    return found


def matching(tokens, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}") if tokens[i].kind == "punctuation" else 0
        if depth == 0:
            return i
    return len(tokens)


def count_lambdas(tokens):
    """Introducers: a [ where neither an index nor an attribute can stand, and a body or parameters behind it."""
    count = 0
    for i, token in enumerate(tokens):
        if token.text != "[" or token.kind != "punctuation":
            continue
        before = tokens[i - 1] if i else None
        if before and (before.kind in ("name", "literal") or before.text in (")", "]", "[", "this", "operator", "auto",
                                                                            "const", "delete", "new")):
            continue
        end = matching(tokens, i)
        if tokens[i + 1].text != "[" and end + 1 < len(tokens) and tokens[end + 1].text in ("(", "{", "<", "mutable"):
            count += 1
    return count


def after_template_parameters(tokens, at):
    """The place behind `template <...>`, whose keyword is at `at`."""
    depth = 0
    for i in range(at + 1, len(tokens)):
        depth += {"<": 1, ">": -1, ">>": -2}.get(tokens[i].text, 0)
        if depth <= 0:
            return i + 1
    return len(tokens)


def functions_of(tokens):
    """Functions with names: what they are called, the places where their heads begin and their bodies end. A body is a
    brace whose head, what stands before it since the last statement of the surrounding namespace or class, has
    parameters, and which begins no initialiser."""
    found, i, head, begin = [], 0, [], 0
    while i < len(tokens):
        text = tokens[i].text
        following = tokens[i + 1].text if i + 1 < len(tokens) else ""
        begin = begin if head else i
        if tokens[i].kind == "literal" or text == "alignas":
            head.append("literal")
            i = i + 1 if text != "alignas" else matching(tokens, i + 1) + 1
        elif text == "template" and following == "<":
            head.append(text)
            i = after_template_parameters(tokens, i)
        elif text == "operator":  # its name is none of what the head is asked for
            head.append(text)
            i += 3 if following in "([" else 2
        elif text in "([":
            head.append(text)
            i = matching(tokens, i) + 1
        elif text in (";", "}") or text in ("public", "private", "protected") and following == ":":
            head = []
            i += 1 if text in (";", "}") else 2
        elif text == "{":
            has_parameters = "(" in head and "=" not in head and head[0] != "catch"
            opens_scope = not has_parameters and not {"namespace", "class", "struct", "union", "extern"}.isdisjoint(head)
            # `a_{1}` in a constructor's list or as a member; a function's body comes after `)`, `const`, `-> T`
            is_initialiser = head and re.fullmatch(r"\w+|>", head[-1]) and head[-1] not in KEYWORDS and "->" not in head
            if opens_scope:
                head = []
                i += 1  # and into it
                continue
            end = matching(tokens, i)
            if has_parameters and not is_initialiser:
                found.append((head[max(head.index("(") - 1, 0)], begin, end))
                head = []
            else:
                head = [] if head[:1] == ["catch"] else head + ["{"]
            i = end + 1
        else:
            head.append(text)
            i += 1
    return found


def without_functions(tokens, names):
    """The tokens that are left when all functions of these names are gone."""
    places = {token: i for i, token in enumerate(map(id, tokens))}
    plain = [token for token in tokens if not token.in_directive]
    gone = [(places[id(plain[begin])], places[id(plain[end])])
            for name, begin, end in functions_of(plain) if name in names]
    missing = set(names) - {name for name, _, _ in functions_of(plain)}
    if missing:
        raise ValueError(f"there is no function {', '.join(sorted(missing))}")
    return [token for i, token in enumerate(tokens) if not any(begin <= i <= end for begin, end in gone)]


@dataclasses.dataclass
class Effort:
    lines: int
    tokens: int
    complexity: int
    halstead: float


@dataclasses.dataclass
class Source:
    name: str
    text: str
    without: list = dataclasses.field(default_factory=list)  # functions that belong to another version


def effort_of(sources):
    """Of sources that make one program."""
    lines = complexity = 0
    operators, operands = [], []
    for source in sources:
        try:
            tokens = without_functions(tokens_of(lay_out(source.text), keywords_of(source.name)), source.without)
        except ValueError as error:
            sys.exit(f"effort: {source.name}: {error}")
        lines += len({token.line for token in tokens})
        plain = [token for token in tokens if not token.in_directive]
        complexity += len(functions_of(plain)) + count_lambdas(plain) + sum(
            token.text in ("if", "for", "while", "case", "catch", "?", "||", "and", "or")
            or token.text == "&&" and token.is_operator
            for token in plain if token.kind in ("keyword", "punctuation"))
        for token in tokens:
            (operands if token.kind in ("name", "literal") else operators).append(token.text)
    total = len(operators) + len(operands)
    pairs = [text for text in operators if text not in (")", "]", "}")]
    vocabulary = len(set(pairs)) + len(set(operands))
    halstead = 0.0
    if operands:
        difficulty = len(set(pairs)) / 2 * len(operands) / len(set(operands))
        halstead = difficulty * (len(pairs) + len(operands)) * math.log2(vocabulary)
    return Effort(lines, total, complexity, halstead)


def read(path, without=()):
    try:
        return Source(str(path), path.read_text(), list(without))
    except OSError as error:
        sys.exit(f"effort: {path}: {error.strerror}")


def read_entry(root, entry):
    """`FILE`, or `FILE without FUNCTION, FUNCTION`."""
    name, _, functions = entry.partition(" without ")
    return read(root / name, [function.strip() for function in functions.split(",")] if functions else [])


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def numbers(effort):
    return [str(effort.lines), str(effort.tokens), str(effort.complexity), f"{effort.halstead:.0f}"]


def print_files(files):
    print(row("file", "lines", "tokens", "complexity", "Halstead's effort"), "|---|--:|--:|--:|--:|", sep="\n")
    for file in files:
        print(row(str(file), *numbers(effort_of([read(file)]))))


def print_comparison(file):
    """`file` has a table for each program, with lists of files by version, ours first. Names start at the folder above."""
    with open(file, "rb") as source:
        programs = tomllib.load(source)
    root = file.resolve().parent.parent
    print(f"# Development effort\n\n    bench/effort.py {file}\n")
    print(row("program", "version", "lines", "tokens", "complexity", "Halstead's effort", "tokens that ours has fewer"),
          "|---|---|--:|--:|--:|--:|--:|", sep="\n")
    for program, versions in programs.items():
        ours = None
        for version, files in versions.items():
            effort = effort_of([read_entry(root, entry) for entry in files])
            fewer = f"{100 * (1 - ours.tokens / effort.tokens):.0f} %" if ours else ""
            ours = ours or effort
            print(row(program, version, *numbers(effort), fewer))


def main(arguments):
    if not arguments or any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    files = [pathlib.Path(argument) for argument in arguments]
    if files[0].suffix == ".toml":
        if len(files) > 1:
            sys.exit("effort: one .toml at a time")
        print_comparison(files[0])
    else:
        print_files(files)


if __name__ == "__main__":
    main(sys.argv[1:])
