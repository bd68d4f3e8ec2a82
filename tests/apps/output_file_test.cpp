// Files of programs: found out before work begins, and whole or not there.
#include "program/output_file.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

namespace program {
namespace {

using headrace::testing::ScratchFolder;

TEST(OutputFile, IsCheckedWithoutLeavingATrace) {
    const ScratchFolder folder;
    check_writable(folder.path() / "new.png");
    EXPECT_EQ(folder.files(), 0u);
    folder.write("old.png", "precious");
    check_writable(folder.path() / "old.png");
    EXPECT_EQ(std::filesystem::file_size(folder.path() / "old.png"), 8u);
    EXPECT_EQ(folder.files(), 1u);
    for (const auto& bad : {folder.path() / "nowhere" / "a.png", folder.path(), folder.path() / ""}) {
        EXPECT_THROW(check_writable(bad), headrace::Error) << bad;
    }
}

TEST(OutputFile, ReplacesTheOldOneAtOnce) {
    const ScratchFolder folder;
    folder.write("a.png", "old");
    write_whole(folder.path() / "a.png", "new content");
    EXPECT_EQ(std::filesystem::file_size(folder.path() / "a.png"), 11u);
    EXPECT_EQ(folder.files(), 1u);
    EXPECT_THROW(write_whole(folder.path() / "nowhere" / "a.png", "x"), headrace::Error);
    std::filesystem::create_directory(folder.path() / "b.png");
    folder.write("b.png/file", "in the way");
    EXPECT_THROW(write_whole(folder.path() / "b.png", "x"), headrace::Error);
    EXPECT_EQ(folder.files(), 2u); // a.png and the folder b.png: the half-written file is gone
}

TEST(OutputFile, ADashIsStandardOutputAndNoNameIsNoFile) {
    const ScratchFolder folder;
    testing::internal::CaptureStdout();
    write_output("-", "shown");
    write_output("", "not shown");
    write_output(folder.path() / "a", "written");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "shown");
    EXPECT_EQ(folder.files(), 1u);
}

} // namespace
} // namespace program
