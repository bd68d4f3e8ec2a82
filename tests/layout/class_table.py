#!/usr/bin/env python3
"""The classes of the library by size: public functions, and lines over all files.

    class_table.py [N]          prints the N largest (20)

Lines are those of the class in its header and of its member functions in sources. It reads the layout that .ci/format gives,
not C++: a class begins at "class Name", at the left edge or inside a class, and ends at a "};" of the same indentation; so
does a function, at "}".
"""
import collections
import re
import sys

import include_graph

CLASS = re.compile(r"^( *)(?:template <.*> )?(?:class|struct) (?:HEADRACE_EXPORT )?((?:\w+::)*\w+)(?: final)?(?: :.*)?(?: \{)?$")
MEMBER = re.compile(r"^(?!using|typedef|static_assert|friend|template|return|#)[\w:<>,&*\s\[\]~]+\(")
DEFINITION = re.compile(r"^(?!\s|//|#|using|return)[^=;]*?\b((?:\w+::)+)~?\w+\(")


def block(lines, first, indent, end):
    """The number of lines from `first` to the one that ends the block."""
    is_open = False  # a body has begun that is not empty
    for last in range(first, len(lines)):
        is_open = is_open or lines[last].rstrip().endswith("{")
        if not is_open and lines[last].rstrip().endswith("{}"):
            return last - first + 1
        if lines[last].startswith(indent + end) or (last == first and lines[last].rstrip().endswith(("}", "};"))):
            return last - first + 1
    return 1


def public_functions(lines, indent, is_struct):
    is_public, names = is_struct, set()
    for line in lines[1:]:
        if re.match(rf"{indent}(public|private|protected):", line):
            is_public = "public" in line
        elif is_public and re.match(rf"{indent}    \S", line):
            text = re.sub(r"\[\[nodiscard\]\] |HEADRACE_\w+ |explicit |virtual |static |constexpr |inline ", "", line.strip())
            if MEMBER.match(text) and (found := re.search(r"([\w~]+|operator\S+?)\(", text)):
                names.add(found[1])
    return len(names)


def table():
    sizes, functions = collections.Counter(), {}
    for path in include_graph.sources():
        if path.parts[0] not in include_graph.FLOORS:
            continue
        lines = (include_graph.ROOT / path).read_text().splitlines()
        for i, line in enumerate(lines):
            if (found := CLASS.match(line)) and not line.endswith(";"):
                length = block(lines, i, found[1], "};")
                name = found[2].split("::")[-1]
                sizes[name] += length
                kind = "struct" if "struct " in line else "class"
                functions[name] = public_functions(lines[i:i + length], found[1], kind == "struct")
            elif found := DEFINITION.match(line):
                for name in found[1].split("::")[:-1][-1:]:
                    sizes[name] += block(lines, i, "", "}")
    return [(name, functions[name], size) for name, size in sizes.most_common() if name in functions]


if __name__ == "__main__":
    print("| class | public functions | lines |\n|---|---|---|")
    for row in table()[:int(sys.argv[1]) if len(sys.argv) > 1 else 20]:
        print("| {} | {} | {} |".format(*row))
