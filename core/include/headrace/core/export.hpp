// core/export.hpp - the symbols that a shared library of Headrace exports.
// Libraries are compiled with hidden visibility, so internal names do not collide with names of a program.
#pragma once

/// Marks functions, and classes with member functions, that a header declares and a library source defines.
/// Also marks interfaces and exceptions, so that all libraries of a process agree on their type.
/// Templates need no mark: each program compiles its own copy.
#define HEADRACE_EXPORT __attribute__((visibility("default")))
