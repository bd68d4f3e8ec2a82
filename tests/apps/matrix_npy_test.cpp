// NumPy's files: what is written can be read, and what is none of ours is refused in words.
#include "matrices/npy.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

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
            read_npy(write(bytes), {2, 3}, numbers);
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
    EXPECT_EQ(npy_size(file), (NpySize{2, 3}));
    std::vector<float> numbers(6);
    read_npy(file, {2, 3}, numbers);
    EXPECT_EQ(numbers, six);
}

TEST_F(Npy, ReadsDoublesAndLaterVersions) {
    std::vector<float> numbers(6);
    const std::string doubles = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";
    read_npy(write(file_of(doubles, bytes_of(std::vector<double>(six.begin(), six.end())))), {2, 3}, numbers);
    EXPECT_EQ(numbers, six);
    std::ranges::fill(numbers, 0.0f);
    read_npy(write(file_of(floats, bytes_of(six), 2)), {2, 3}, numbers);
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
    EXPECT_NE(with("<f4", "<i8").find("numbers of type <i8"), std::string::npos);
    EXPECT_NE(with("False", "True").find("Fortran order"), std::string::npos);
    EXPECT_NE(with("(2, 3)", "(6,)").find("is no matrix"), std::string::npos);
    EXPECT_NE(with("(2, 3)", "(3, 2)").find("is 3 x 2; wanted is 2 x 3"), std::string::npos);
    EXPECT_NE(with("'descr'", "'desc'").find("broken header"), std::string::npos);
}

TEST_F(Npy, AFileThatIsNotThereIsNotFound) {
    try {
        static_cast<void>(npy_size(folder_.path() / "absent.npy"));
        FAIL() << "found it";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::not_found);
    }
}

} // namespace
} // namespace matrices::test
