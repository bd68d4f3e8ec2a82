// Files of programs: found out before work begins, and whole or not there.
#include "program/output_file.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace program {
namespace {

using headrace::test::ScratchFolder;

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

TEST(OutputFile, HasItsNameWhenItIsShown) {
    const ScratchFolder folder;
    const auto file = folder.write("a.png", "old");
    {
        HiddenFile hidden(file, "new content");
        EXPECT_EQ(std::filesystem::file_size(file), 3u);
        hidden.show();
        EXPECT_EQ(std::filesystem::file_size(file), 11u);
        const HiddenFile never(file, "x");
    }
    EXPECT_EQ(std::filesystem::file_size(file), 11u);
    EXPECT_EQ(folder.files(), 1u);
    EXPECT_THROW(HiddenFile(folder.path() / "nowhere" / "a.png", "x"), headrace::Error);

    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    HiddenFile hidden(pipe, "for the reader");
    std::array<char, 32> read{};
    EXPECT_EQ(::read(reader, read.data(), read.size()), 0) << "before it was to be seen";
    hidden.show();
    EXPECT_EQ(::read(reader, read.data(), read.size()), 14);
    ::close(reader);
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(OutputFile, NothingIsLeftOfAProcessThatIsKilled) {
    const ScratchFolder folder;
    const int nameless = ::open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
    if (nameless < 0) GTEST_SKIP() << "this file system has no files without names";
    ::close(nameless);
    const pid_t child = ::fork();
    if (child == 0) {
        const HiddenFile file(folder.path() / "a.png", std::string(100, 'x'));
        ::_exit(folder.files() == 0 ? 0 : 1); // before it has its name, and no destructor runs
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "it has a name while it is written";
    EXPECT_EQ(folder.files(), 0u);
}

TEST(OutputFile, WhatIsNoFileStaysWhatItIs) {
    const ScratchFolder folder;
    const auto pipe = folder.path() / "pipe", link = folder.path() / "link";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::filesystem::create_symlink(pipe, link);
    for (const auto& name : {pipe, link}) {
        const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
        ASSERT_GE(reader, 0);
        check_writable(name);
        write_whole(name, "for the reader");
        std::array<char, 32> read{};
        EXPECT_EQ(::read(reader, read.data(), read.size()), 14);
        EXPECT_STREQ(read.data(), "for the reader");
        ::close(reader);
    }
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(folder.files(), 2u);
}

TEST(OutputFile, ALinkLeadsToTheNewFile) {
    const ScratchFolder folder;
    std::filesystem::create_directory(folder.path() / "elsewhere");
    const auto file = folder.write("elsewhere/a.png", "old"), link = folder.path() / "link";
    std::filesystem::create_symlink("elsewhere/a.png", link);
    check_writable(link);
    write_whole(link, "new content");
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(std::filesystem::file_size(file), 11u);

    std::filesystem::remove(file);
    check_writable(link);
    write_whole(link, "again"); // it leads to no file yet
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(std::filesystem::file_size(file), 5u);
}

/// As /dev/stdout is, but nothing could take its name.
TEST(OutputFile, WhatAProcessHasOpenIsAddedTo) {
    const ScratchFolder folder;
    const auto file = folder.write("log", "first\n");
    const int open = ::open(file.c_str(), O_WRONLY);
    const std::string name = "/dev/fd/" + std::to_string(open);
    check_writable(name);
    write_whole(name, "second\n");
    ::close(open);
    EXPECT_EQ(std::filesystem::file_size(file), 13u);
    EXPECT_EQ(folder.files(), 1u);
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
