#!/usr/bin/env python3
"""Lines of code that the documentation names: `Class::function` [path:LINE](link#LLINE).

    doc_lines.py --fix          writes the lines where the functions are now
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = re.compile(r"`([\w:]+)`(?: in)? \[([^\]]+):(\d+)\]\(([^)#]+)#L(\d+)\)")


def lines_of(name, path):
    """Numbers of the lines of the file at which `name` may begin."""
    lines = path.read_text().splitlines()
    parts = name.split("::")
    qualified = re.compile(r"\b" + r"::".join(parts[-2:]) + r"\b")
    plain = re.compile(r"\b" + parts[-1] + r"\b")

    def numbers(pattern):
        return [i for i, line in enumerate(lines, 1) if pattern.search(line) and not line.lstrip().startswith("//")]

    definition = re.compile(rf"^\s*(?:class|struct|enum class) (?:HEADRACE_EXPORT )?{parts[-1]}\b[^;]*$")
    if len(parts) == 1 and (defined := numbers(definition)):
        return defined
    return (numbers(qualified) if len(parts) > 1 else []) or numbers(plain)


def mistakes(fix=False):
    for page in sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]):
        text = page.read_text()

        def right(match):
            name, shown, _, link, line = match.groups()
            candidates = lines_of(name, (page.parent / link).resolve())
            if int(line) in candidates or not candidates:
                if not candidates:
                    wrong.append(f"{page.relative_to(ROOT)}: {link} has no {name}")
                return match[0]
            best = min(candidates, key=lambda number: abs(number - int(line)))
            wrong.append(f"{page.relative_to(ROOT)}: {name} is not at {link}:{line} but at {best}")
            return match[0].replace(f":{line}]", f":{best}]").replace(f"#L{line})", f"#L{best})")

        wrong = []
        mended = REFERENCE.sub(right, text)
        yield from wrong
        if fix and mended != text:
            page.write_text(mended)


if __name__ == "__main__":
    print("\n".join(mistakes(fix="--fix" in sys.argv)))
