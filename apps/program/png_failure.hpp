// apps/program/png_failure.hpp - what libpng says when it fails, where its full interface is used: it jumps,
// and no exception may cross it.
#pragma once
#include <png.h>

#include <csetjmp>
#include <cstdio>

namespace program {

/// The error pointer of a png_struct that is made with these two. Whoever calls libpng then has
/// `setjmp(png_jmpbuf(png))` first, in a function with nothing that has a destructor.
struct PngFailure {
    char message[160] = "";

    [[noreturn]] static void on_error(png_structp png, png_const_charp why) {
        auto& failure = *static_cast<PngFailure*>(png_get_error_ptr(png));
        std::snprintf(failure.message, sizeof failure.message, "%s", why);
        png_longjmp(png, 1);
    }
    static void on_warning(png_structp, png_const_charp) {} // else they go to stderr
};

} // namespace program
