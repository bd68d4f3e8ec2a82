// tests/fuzz/quiet.cpp - fuzzing logs nothing of what readers find worth saying, thousands of times a second.
#include <headrace/core/log.hpp>

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
    headrace::set_log_level(headrace::LogLevel::off);
    return 0;
}
