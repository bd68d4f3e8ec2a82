// tests/apps/error_of.hpp - what is thrown, for tests that look at it.
#pragma once
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace headrace::test {

/// What an Error says of something; fails if there is none.
template <class Work>
Error error_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error";
    return Error{ErrorKind::internal, "none"};
}

inline bool mentions(const Error& error, const std::string& word) {
    return std::string(error.what()).find(word) != std::string::npos;
}

} // namespace headrace::test
