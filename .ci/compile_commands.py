#!/usr/bin/env python3
"""Writes the commands of build/release for clang-tidy: each source has its own, and what clang does not read is left out.

    compile_commands.py FROM TO
"""
import json
import re
import sys

# Precompiled headers of g++; and warnings of clang, which are not asked for.
NOT_FOR_CLANG = r" -Winvalid-pch -include \S*cmake_pch\.hxx| -fpch-preprocess| -Werror(?= |$)"


def sources_of(file: str) -> list[str]:
    """What a command compiles: one file, or those that CMake's unity build puts together."""
    if not re.search(r"/Unity/unity_\d+_cxx\.cxx$", file):
        return [file]
    with open(file, encoding="utf-8") as text:
        return re.findall(r'^#include "(.*)"$', text.read(), re.MULTILINE)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as text:
        commands = json.load(text)
    each = []
    for entry in commands:
        command = re.sub(NOT_FOR_CLANG, "", entry["command"])
        for source in sources_of(entry["file"]):
            each.append({**entry, "file": source, "command": command.replace(entry["file"], source)})
    with open(sys.argv[2], "w", encoding="utf-8") as text:
        json.dump(each, text, indent=1)


main()
