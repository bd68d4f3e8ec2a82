// core/export.hpp - what a shared library of Headrace shows to those that link it.
// Libraries are compiled with hidden visibility, so that names of their insides collide with no program's.
#pragma once

/// Marks what a header declares and a source of a library defines: functions, and classes with such members.
/// Marks interfaces and exceptions too, so that all libraries of a process agree on their type.
/// Templates need no mark: each user compiles its own.
#define HEADRACE_EXPORT __attribute__((visibility("default")))
