// No output is an input, and no two outputs are one file, whatever they are called.
#include "program/output_file.hpp"
#include "program/used_files.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/cache_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace program {
namespace {

namespace fs = std::filesystem;

class UsedFilesTest : public testing::Test {
protected:
    void SetUp() override {
        forget_used_files();
        fs::create_symlink("scene.obj", link_);
        fs::create_hard_link(scene_, hard_);
    }
    void TearDown() override { forget_used_files(); }

    static void expect_refused(const std::function<void()>& call, const std::string& words) {
        try {
            call();
            ADD_FAILURE() << "was taken, not refused: " << words;
        } catch (const headrace::Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    }
    [[nodiscard]] std::string content() const {
        std::ifstream stream(scene_);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    const headrace::test::ScratchFolder folder_;
    const fs::path scene_ = folder_.write("scene.obj", "precious"), link_ = folder_.path() / "link",
                   hard_ = folder_.path() / "hard", other_ = folder_.path() / "other";
};

TEST_F(UsedFilesTest, AnInputIsNoOutput) {
    note_input(scene_);
    for (const fs::path& name : {scene_, link_, hard_, folder_.path() / "." / "scene.obj"}) {
        expect_refused([&] { note_output("--report", name); }, "would be written, and is the input");
        expect_refused([&] { write_whole(name, "x"); }, "would be written, and is the input");
        expect_refused([&] { const HiddenFile file(name, "x"); }, "would be written, and is the input");
    }
    write_whole(other_, "x");
    note_output("--report", other_);
    EXPECT_EQ(content(), "precious");
}

TEST_F(UsedFilesTest, AnOutputIsNoInputThatAFileNamesLater) {
    note_output("--report", link_);
    for (const fs::path& name : {scene_, link_, hard_})
        expect_refused([&] { note_input(name); }, "--report would be written to it");
    note_input(folder_.path()); // no file
    note_input("/dev/null");
    note_output("--trace", "/dev/null");
    EXPECT_EQ(content(), "precious");
}

TEST_F(UsedFilesTest, AnInputThatIsReadNoMoreMayBeAnOutput) {
    note_input(scene_);
    note_input(folder_.write("another", "input"));
    forget_input(scene_);
    write_whole(scene_, "x");
    EXPECT_EQ(content(), "x");
    expect_refused([&] { write_whole(folder_.path() / "another", "x"); },
                   "would be written, and is the input");
}

TEST_F(UsedFilesTest, DescriptorsAreFilesToo) {
    const int descriptor = ::open(scene_.c_str(), O_RDWR);
    ASSERT_GE(descriptor, 0);
    note_input(descriptor, "standard input");
    expect_refused([&] { note_output("--output", link_); }, "is the input standard input");
    expect_refused([&] { check_no_input(descriptor, "standard output"); },
                   "standard output: would be written");
    expect_refused([&] { write_whole("/dev/fd/" + std::to_string(descriptor), "x"); }, "would be written");
    ::close(descriptor);
    EXPECT_EQ(content(), "precious");
}

TEST_F(UsedFilesTest, TwoOutputsAreTwoFiles) {
    note_output("--out", scene_);
    for (const fs::path& name : {scene_, link_, hard_})
        expect_refused([&] { note_output("--report", name); }, "--out and --report are both written to");
    note_output("--out", link_); // once more
    note_output("--new", other_);
    expect_refused([&] { note_output("--report", folder_.path() / "." / "other"); }, "--new and --report");
    note_output("--film", "-");
    expect_refused([&] { note_output("--report", "-"); }, "both written to standard output");
}

TEST_F(UsedFilesTest, NumberedOutputsAreKnownBeforehand) {
    const auto is_ours = [](const std::string& name) { return name.starts_with("frame_"); };
    const fs::path frame = folder_.write("frame_1.png", "precious");
    note_input(frame);
    expect_refused([&] { note_outputs("--out", folder_.path(), is_ours); }, "may be overwritten by --out");
    forget_used_files();
    note_output("--report", folder_.path() / "frame_2.png");
    expect_refused([&] { note_outputs("--out", folder_.path(), is_ours); }, "may be overwritten by --out");
    forget_used_files();
    note_outputs("--out", folder_.path(), is_ours);
    expect_refused([&] { note_input(frame); }, "may be overwritten by --out");
    note_output("--report", other_);
}

TEST_F(UsedFilesTest, WhatIsWrittenFirstFollowsNoLink) {
    // As many names as a process can have had: none of them is used.
    const fs::path victim = folder_.write("victim", "precious");
    fs::create_symlink(victim, folder_.path() / ("a.png." + std::to_string(::getpid()) + ".partial"));
    write_whole(folder_.path() / "a.png", "new");
    EXPECT_EQ(fs::file_size(victim), 8u);
    EXPECT_TRUE(fs::is_symlink(folder_.path() / ("a.png." + std::to_string(::getpid()) + ".partial")));
    const fs::path first = headrace::new_file_beside(other_), second = headrace::new_file_beside(other_);
    EXPECT_NE(first, second);
    EXPECT_EQ(fs::status(first).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_TRUE(headrace::new_file_beside(folder_.path() / "nowhere" / "a").empty());
}

TEST_F(UsedFilesTest, CacheFoldersAreTheirUsersAlone) {
    const fs::path cache = folder_.path() / "home" / ".cache" / "headrace";
    headrace::make_private_folder(cache);
    for (fs::path each = cache; each != folder_.path(); each = each.parent_path())
        EXPECT_EQ(fs::status(each).permissions(), fs::perms::owner_all) << each;
    headrace::make_private_folder(cache);
    headrace::make_private_folder({});
}

} // namespace
} // namespace program
