// NumPy's files: what is written can be read, and what is none of ours is refused in words.
#include "matrices/npy.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <vector>

namespace matrices::test {
namespace {

using headrace::Error;
using headrace::ErrorKind;

class Npy : public testing::Test {
protected:
    std::filesystem::path write(const std::string& bytes) const {
        const auto file = folder_.path() / "matrix.npy";
        std::ofstream(file, std::ios::binary) << bytes;
        return file;
    }
    /// The bytes of a file as NumPy writes them.
    static std::string file_of(const std::string& description, const std::string& numbers, char version = 1) {
        std::string length{static_cast<char>(description.size()), '\0'};
        if (version > 1) length += std::string(2, '\0');
        return std::string("\x93NUMPY") + version + '\0' + length + description + numbers;
    }
    template <class T>
    static std::string bytes_of(const std::vector<T>& numbers) {
        return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
    }
    /// What reading a matrix of two rows and three columns is refused with.
    [[nodiscard]] std::string refusal(const std::string& bytes) const {
        std::vector<float> numbers(6);
        try {
            NpyFile(write(bytes)).read({2, 3}, numbers);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            return error.message();
        }
        return "was read";
    }

    headrace::test::ScratchFolder folder_;
};

const std::string floats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
const std::vector<float> six{1, -2, 3, 4.5f, 5, 6};

TEST_F(Npy, WhatIsWrittenCanBeRead) {
    const std::string bytes = npy_of(six, {2, 3});
    EXPECT_EQ((bytes.size() - 6 * sizeof(float)) % 64, 0u) << "where numbers begin, by NumPy's rule";
    const auto file = write(bytes);
    EXPECT_EQ(NpyFile(file).size(), (NpySize{2, 3}));
    std::vector<float> numbers(6);
    NpyFile(file).read({2, 3}, numbers);
    EXPECT_EQ(numbers, six);
}

TEST_F(Npy, ReadsDoublesAndLaterVersions) {
    std::vector<float> numbers(6);
    const std::string doubles = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";
    NpyFile(write(file_of(doubles, bytes_of(std::vector<double>(six.begin(), six.end())))))
        .read({2, 3}, numbers);
    EXPECT_EQ(numbers, six);
    std::ranges::fill(numbers, 0.0f);
    NpyFile(write(file_of(floats, bytes_of(six), 2))).read({2, 3}, numbers);
    EXPECT_EQ(numbers, six);
}

TEST_F(Npy, SaysWhatIsWrongWithAFile) {
    EXPECT_NE(refusal("PNG and so on").find("is no .npy file"), std::string::npos);
    EXPECT_NE(refusal(file_of(floats, "short")).find("ends before its last number"), std::string::npos);
    EXPECT_NE(refusal(std::string("\x93NUMPY\1\0\x40\0{'descr", 17)).find("ends in its header"),
              std::string::npos);
    const auto with = [&](const std::string& what, const std::string& instead) {
        std::string description = floats;
        description.replace(description.find(what), what.size(), instead);
        return refusal(file_of(description, bytes_of(six)));
    };
    EXPECT_NE(with("<f4", "<c8").find("numbers of type <c8"), std::string::npos);
    EXPECT_NE(with("<f4", "<i8").find("ends before its last number"), std::string::npos);
    EXPECT_NE(with("'<f4'", "[('a', '<f4'), ('b', '<i2')]").find("structures"), std::string::npos);
    EXPECT_NE(with("(2, 3)", "(6,)").find("is no matrix"), std::string::npos);
    EXPECT_NE(with("(2, 3)", "(0, 3)").find("is no matrix"), std::string::npos);
    EXPECT_NE(with("(2, 3)", "(3, 2)").find("is 3 x 2; wanted is 2 x 3"), std::string::npos);
    EXPECT_NE(with("'descr'", "'desc'").find("broken header"), std::string::npos);
}

/// Both orders of elements and of bytes, and every type.
TEST_F(Npy, ReadsWhatNumPyWrites) {
    const auto read = [&](const std::string& type, const std::string& numbers, bool is_fortran = false) {
        std::vector<float> found(6);
        NpyFile(write(file_of("{'descr': '" + type + "', 'fortran_order': " +
                                  (is_fortran ? "True" : "False") + ", 'shape': (2, 3), }\n",
                              numbers)))
            .read({2, 3}, found);
        return found;
    };
    EXPECT_EQ(read("<f4", bytes_of(std::vector<float>{1, 4.5f, -2, 5, 3, 6}), true), six);
    const std::vector<float> whole{1, 0, 3, 100, 5, 6};
    EXPECT_EQ(read("<i8", bytes_of(std::vector<std::int64_t>{1, 0, 3, 100, 5, 6})), whole);
    EXPECT_EQ(read("<u2", bytes_of(std::vector<std::uint16_t>{1, 0, 3, 100, 5, 6})), whole);
    EXPECT_EQ(read("|i1", bytes_of(std::vector<std::int8_t>{-1, 0, 3, 100, 5, 6})),
              (std::vector<float>{-1, 0, 3, 100, 5, 6}));
    EXPECT_EQ(read("|b1", bytes_of(std::vector<std::uint8_t>{1, 0, 1, 1, 0, 1})),
              (std::vector<float>{1, 0, 1, 1, 0, 1}));
    EXPECT_EQ(read(">i4", {"\0\0\0\1"
                           "\0\0\0\0"
                           "\0\0\0\3"
                           "\0\0\0\x64"
                           "\0\0\0\5"
                           "\0\0\0\6",
                           24}),
              whole);
    EXPECT_EQ(read(">f4", {"\x3f\x80\0\0"
                           "\xc0\0\0\0"
                           "\x40\x40\0\0"
                           "\x40\x90\0\0"
                           "\x40\xa0\0\0"
                           "\x40\xc0\0\0",
                           24}),
              six);
    EXPECT_EQ(read("<f2", {"\0\x3c"
                           "\0\xc0"
                           "\0\x42"
                           "\x80\x44"
                           "\0\x45"
                           "\1\0",
                           12}),
              (std::vector<float>{1, -2, 3, 4.5f, 5, std::ldexp(1.0f, -24)}));
}

TEST_F(Npy, SaysWhatIsBeyondFloat) {
    const std::string doubles = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";
    const auto with = [&](double odd) {
        return refusal(file_of(doubles, bytes_of(std::vector<double>{1, 2, odd, 4, 5, 6})));
    };
    EXPECT_NE(with(1e300).find("number 3 is 1e+300, which is no finite float32"), std::string::npos);
    EXPECT_NE(with(-1e39).find("number 3 is -1e+39"), std::string::npos);
    EXPECT_NE(with(std::nan("")).find("number 3 is nan"), std::string::npos);
    EXPECT_EQ(with(3e38), "was read");
    std::vector<float> some = six;
    some[4] = HUGE_VALF;
    EXPECT_NE(refusal(file_of(floats, bytes_of(some))).find("number 5 is inf"), std::string::npos);
}

TEST_F(Npy, AFileThatIsNotThereIsNotFound) {
    try {
        NpyFile(folder_.path() / "absent.npy");
        FAIL() << "found it";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::not_found);
    }
}

} // namespace
} // namespace matrices::test
