// The file that a run goes on from: whole, or refused with the reason.
#include "numbered.hpp"

#include <core/scratch_folder.hpp>
#include <core/seeds.hpp>
#include <headrace/internal/domains/epochs/checkpoint_file.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace headrace::test {
namespace {

using epochs::Identity;
using epochs::Snapshot;

std::string content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Files of this process end at `bytes`: what a full disk is to it.
class DiskOf {
public:
    explicit DiskOf(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        signal_ = std::signal(SIGXFSZ, SIG_IGN);
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~DiskOf() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_);
    }
    DiskOf(const DiskOf&) = delete; // restores the limit once
    DiskOf& operator=(const DiskOf&) = delete;

private:
    rlimit before_{};
    void (*signal_)(int) = nullptr;
};

class CheckpointFile : public testing::Test {
protected:
    CheckpointFile() {
        for (std::byte& byte : snapshot_.bytes) byte = static_cast<std::byte>(random_());
        write_checkpoint(file_, identity_, snapshot_);
    }
    [[nodiscard]] Snapshot read() const { return read_checkpoint(file_, identity_); }
    void expect_refused(ErrorKind kind, const std::string& words, const Identity& identity) const {
        try {
            static_cast<void>(read_checkpoint(file_, identity));
            ADD_FAILURE() << "was accepted, and should not be: " << words;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), kind) << error.what();
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find(file_.string()), std::string::npos) << error.what();
        }
    }
    void expect_refused(const std::string& words) const {
        expect_refused(ErrorKind::invalid_argument, words, identity_);
    }
    void replace(const std::string& bytes) const { folder_.write("run.checkpoint", bytes); }
    /// With a checksum that fits, as a program with other fields would write it.
    void replace_and_sum(std::string bytes) const {
        const std::size_t sum_at = bytes.size() - sizeof(std::uint64_t);
        const std::uint64_t sum = epochs::checksum(std::as_bytes(std::span(bytes).first(sum_at)));
        std::memcpy(bytes.data() + sum_at, &sum, sizeof sum);
        replace(bytes);
    }

    std::mt19937_64 random_{fresh_seed()};
    const ScratchFolder folder_;
    const std::filesystem::path file_ = folder_.path() / "run.checkpoint";
    const Identity identity_{"program: a test\ninput: 17\nseed: 1", {10, 1'000'000}};
    Snapshot snapshot_{123'456, cluster::Message(random_() % 500 + 1)};
};

TEST_F(CheckpointFile, ComesBack) {
    const Snapshot read = this->read();
    EXPECT_EQ(read.done, snapshot_.done);
    EXPECT_EQ(read.bytes, snapshot_.bytes);
    EXPECT_EQ(folder_.list(), std::vector<std::string>{"run.checkpoint"});
}

TEST_F(CheckpointFile, IsRefusedWhereverItIsCutOff) {
    const std::string whole = content(file_);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        replace(whole.substr(0, size));
        expect_refused(size == 0 ? "is empty" : "is truncated: it has " + std::to_string(size) + " bytes");
    }
    replace(whole + "x");
    expect_refused("is corrupted");
    replace(whole);
    EXPECT_EQ(read().done, snapshot_.done);
}

TEST_F(CheckpointFile, IsRefusedWhicheverByteIsWrong) {
    const std::string whole = content(file_);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string wrong = whole;
        wrong[at] = static_cast<char>(wrong[at] ^ (random_() % 255 + 1));
        replace(wrong);
        std::uint64_t size = 0;
        std::memcpy(&size, wrong.data() + 16, sizeof size);
        expect_refused(at < 8                ? "is no checkpoint of Headrace"
                       : at < 12             ? "is a checkpoint in format"
                       : at < 16             ? "another byte order"
                       : size > whole.size() ? "is truncated"
                                             : "is corrupted");
    }
}

TEST_F(CheckpointFile, OfAnotherFormatSaysWhich) {
    std::string older = content(file_);
    older[8] = 0;
    replace_and_sum(older);
    expect_refused("is a checkpoint in format 0, and this version of Headrace reads format 1");
}

TEST_F(CheckpointFile, OfAnotherVersionSaysWhich) {
    std::string other = content(file_);
    ASSERT_EQ(other[24], static_cast<char>(std::strlen(HEADRACE_VERSION)));
    ASSERT_EQ(other.substr(32, std::strlen(HEADRACE_VERSION)), HEADRACE_VERSION);
    other[32] = 'x';
    replace_and_sum(other);
    expect_refused("was written by Headrace x");
}

TEST_F(CheckpointFile, OfAnotherProblemSaysHowTheyDiffer) {
    expect_refused(ErrorKind::invalid_argument, "(seed: 1 there, 2 here)",
                   {"program: a test\ninput: 17\nseed: 2", identity_.units});
    expect_refused(ErrorKind::invalid_argument, "(input: 17 there, 18 here; seed: 1 there, nothing here)",
                   {"program: a test\ninput: 18", identity_.units});
    expect_refused(ErrorKind::invalid_argument, "program: a test there, another here",
                   {"program: another\ninput: 17\nseed: 1", identity_.units});
    expect_refused(ErrorKind::invalid_argument, "units: 10 to 1000000 there, 10 to 2000000 here",
                   {identity_.text, {10, 2'000'000}});
}

TEST_F(CheckpointFile, IsNoOtherFile) {
    replace("{\"a report\": 1}\n");
    expect_refused("is no checkpoint of Headrace");
    std::filesystem::remove(file_);
    expect_refused(ErrorKind::not_found, "there is no such checkpoint", identity_);
    std::filesystem::create_directory(file_);
    expect_refused("is no file");
}

TEST_F(CheckpointFile, StaysWholeWhenTheDiskIsFull) {
    const std::string before = content(file_);
    for (const rlim_t full : {rlim_t{0}, rlim_t{50}, static_cast<rlim_t>(before.size() - 1)}) {
        const DiskOf disk(full);
        try {
            write_checkpoint(file_, identity_, {snapshot_.done + 1, snapshot_.bytes});
            ADD_FAILURE() << "it was written to a full disk";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::io);
            EXPECT_NE(std::string(error.what()).find("the checkpoint cannot be written: File too large"),
                      std::string::npos)
                << error.what();
        }
        EXPECT_EQ(content(file_), before);
        EXPECT_EQ(folder_.list(), std::vector<std::string>{"run.checkpoint"});
    }
    write_checkpoint(file_, identity_, {snapshot_.done + 1, snapshot_.bytes}); // there is room again
    EXPECT_EQ(read().done, snapshot_.done + 1);
}

TEST_F(CheckpointFile, TakesNoPlaceOfADevice) {
    for (const char* device : {"/dev/full", "/dev/null"})
        EXPECT_THROW(write_checkpoint(device, identity_, snapshot_), Error);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_THROW(write_checkpoint(folder_.path() / "missing" / "file", identity_, snapshot_), Error);
}

TEST_F(CheckpointFile, ALinkStaysOne) {
    const std::filesystem::path link = folder_.path() / "link";
    std::filesystem::create_symlink(file_, link);
    write_checkpoint(link, identity_, {snapshot_.done + 7, snapshot_.bytes});
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(read().done, snapshot_.done + 7);
}

TEST_F(CheckpointFile, ALinkToNoFileStaysOne) {
    const std::filesystem::path link = folder_.path() / "link", next = folder_.path() / "next";
    std::filesystem::create_symlink("next", link);
    std::filesystem::create_symlink(file_, next);
    std::filesystem::remove(file_);
    write_checkpoint(link, identity_, {snapshot_.done + 7, snapshot_.bytes});
    EXPECT_TRUE(std::filesystem::is_symlink(link) && std::filesystem::is_symlink(next));
    EXPECT_EQ(read().done, snapshot_.done + 7);
    std::filesystem::remove(next);
    std::filesystem::create_symlink("link", next);
    EXPECT_THROW(write_checkpoint(link, identity_, snapshot_), Error);
    EXPECT_TRUE(std::filesystem::is_symlink(link) && std::filesystem::is_symlink(next));
}

TEST_F(CheckpointFile, KeepsItsMode) {
    namespace fs = std::filesystem;
    for (const auto mode : {fs::perms{0600}, fs::perms{0640}, fs::perms{0666}, fs::perms{0400}}) {
        fs::permissions(file_, mode);
        write_checkpoint(file_, identity_, snapshot_);
        EXPECT_EQ(fs::status(file_).permissions(), mode);
    }
    fs::remove(file_);
    const mode_t mask = ::umask(0027);
    write_checkpoint(file_, identity_, snapshot_);
    ::umask(mask);
    EXPECT_EQ(fs::status(file_).permissions(), fs::perms{0640});
}

TEST_F(CheckpointFile, RemovesNoFileOfTheUser) {
    const std::vector<std::string> names{"run.checkpoint.1.partial", "run.checkpoint.partial",
                                         "run.checkpoint.x.0123456789abcdeg.partial",
                                         "run.checkpoint0123456789abcdef.partial"};
    for (const std::string& name : names) folder_.write(name, "of the user");
    std::filesystem::create_directory(folder_.path() / "run.checkpoint.2.partial");
    const auto before = folder_.list();
    write_checkpoint(file_, identity_, {snapshot_.done + 2, snapshot_.bytes});
    EXPECT_EQ(folder_.list(), before);
    for (const std::string& name : names) EXPECT_EQ(content(folder_.path() / name), "of the user");
}

TEST_F(CheckpointFile, WhatKilledProcessesLeftIsRemoved) {
    for (int kill = 0; kill < 2; ++kill)
        EXPECT_EXIT(
            {
                ::prctl(PR_SET_DUMPABLE, 0); // no core
                const DiskOf disk(50);
                std::signal(SIGXFSZ, SIG_DFL);
                write_checkpoint(file_, identity_, snapshot_);
            },
            testing::KilledBySignal(SIGXFSZ), "");
    EXPECT_EQ(folder_.files(), 2u); // the second has removed what the first one left
    const auto other = folder_.write("run.checkpoint.a-host.0123456789abcdef.partial", "of another host");
    write_checkpoint(file_, identity_, {snapshot_.done + 2, snapshot_.bytes});
    EXPECT_EQ(read().done, snapshot_.done + 2);
    EXPECT_EQ(folder_.list(), (std::vector<std::string>{"run.checkpoint", other.filename()}));
    std::filesystem::last_write_time(other,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(48));
    write_checkpoint(file_, identity_, snapshot_);
    EXPECT_EQ(folder_.list(), std::vector<std::string>{"run.checkpoint"});
}

/// A job that a batch system has started again, while the first run still writes.
TEST_F(CheckpointFile, OfTwoWritersIsWholeAtAnyTime) {
    constexpr int writes = 100;
    const std::size_t size = std::size_t{1} << 18;
    std::atomic<int> writing = 2;
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 2; ++writer)
        writers.emplace_back([&, writer] {
            const Snapshot mine{snapshot_.done + static_cast<std::uint64_t>(writer),
                                cluster::Message(size, static_cast<std::byte>(writer))};
            for (int i = 0; i < writes; ++i) EXPECT_NO_THROW(write_checkpoint(file_, identity_, mine));
            --writing;
        });
    while (writing > 0) EXPECT_NO_THROW(static_cast<void>(read()));
    writers.clear();
    EXPECT_EQ(read().bytes.size(), size);
    EXPECT_EQ(folder_.list(), std::vector<std::string>{"run.checkpoint"});
}

/// Of which the disk has only the first bytes.
TEST_F(CheckpointFile, OfMoreThanTheMemoryIsRefusedInWords) {
    constexpr std::uint64_t huge = std::uint64_t{1} << 43;
    const auto grow = [&](const std::string& begin) {
        replace(begin);
        std::error_code failed;
        std::filesystem::resize_file(file_, huge, failed);
        return !failed;
    };
    std::string whole = content(file_);
    if (!grow("a sparse file of another program")) GTEST_SKIP() << "this file system has no such files";
    expect_refused("is no checkpoint of Headrace");
    grow(whole);
    expect_refused("is corrupted");
    std::memcpy(whole.data() + 16, &huge, sizeof huge);
    grow(whole);
    expect_refused(ErrorKind::out_of_memory, "the checkpoint has 8796093022208 bytes", identity_);
}

TEST_F(CheckpointFile, ItsChecksumNoticesEachWordAndGoesOn) {
    std::vector<std::uint64_t> words(100);
    for (std::uint64_t& word : words) word = random_();
    const auto bytes = [&] { return std::as_bytes(std::span(words)); };
    const std::uint64_t sum = epochs::checksum(bytes());
    EXPECT_EQ(epochs::checksum(bytes().subspan(400), epochs::checksum(bytes().first(400))), sum);
    for (std::uint64_t& word : words) {
        const std::uint64_t before = std::exchange(word, random_());
        EXPECT_EQ(epochs::checksum(bytes()) == sum, word == before);
        word = before;
    }
    std::swap(words[3], words[4]);
    EXPECT_NE(epochs::checksum(bytes()), sum);
}

/// What no disk does, but a program might: all is checked before it is used.
TEST_F(CheckpointFile, WithARightChecksumIsReadOrRefusedWhateverItHas) {
    const NumberedJob numbered{30};
    const Job job = numbered.job(identity_.units.end).only_units(identity_.units);
    Runtime runtime({.devices = "cpu"});
    runtime.submit(job).wait(); // so that there are numbers, of which any may be read
    write_checkpoint(file_, identity_, Snapshot::take(job, snapshot_.done));
    const std::string whole = content(file_);
    int read = 0, refused = 0;
    for (int i = 0; i < 300; ++i) {
        std::string changed = whole;
        for (auto changes = random_() % 3 + 1; changes > 0; --changes) {
            const std::size_t at = 24 + random_() % (changed.size() - 24);
            const std::size_t size = random_() % 2 == 0 ? 1 : std::min<std::size_t>(8, changed.size() - at);
            const std::uint64_t value = random_() % 2 == 0 ? random_() : random_() % 5 - 2;
            std::memcpy(changed.data() + at, &value, size);
        }
        if (random_() % 4 == 0) changed.resize(40 + random_() % (changed.size() - 40));
        const std::uint64_t size = changed.size();
        std::memcpy(changed.data() + 16, &size, sizeof size);
        replace_and_sum(changed);
        std::string begin = file_.string() + ": "; // of a message
        try {
            const Snapshot snapshot = this->read();
            begin = "is corrupted, or another program has written it: ";
            snapshot.restore(job);
            ++read;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument) << error.what();
            EXPECT_TRUE(error.message().starts_with(begin)) << error.what();
            ++refused;
        }
    }
    EXPECT_GT(read, 0);
    EXPECT_GT(refused, 0);
    RecordProperty("read", read);
}

TEST_F(CheckpointFile, WithTooLittleForTheJobIsRefusedByName) {
    const NumberedJob numbered{3};
    const Job job = numbered.job(1000);
    const Identity identity{"", job.units()};
    Snapshot snapshot = Snapshot::take(job, 100);
    const cluster::Message whole = snapshot.bytes;
    EpochOptions options;
    options.resume = file_;
    Runtime runtime({.devices = "cpu"});
    for (std::size_t size = 0; size < whole.size(); size += random_() % 8 + 1) {
        snapshot.bytes.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        write_checkpoint(file_, identity, snapshot);
        try {
            static_cast<void>(run_in_epochs(runtime, job, options));
            ADD_FAILURE() << "was accepted with " << size << " bytes";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument) << error.what();
            EXPECT_EQ(error.message(), file_.string() + ": is corrupted, or another program has written it: "
                                                        "its contents end too early");
        }
    }
}

TEST(Snapshots, AreRefusedByAJobWithOtherDomains) {
    const NumberedJob numbered{13}, other{14};
    const Snapshot snapshot = Snapshot::take(numbered.job(10), 0);
    snapshot.restore(numbered.job(10));
    try {
        snapshot.restore(other.job(10));
        ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
        EXPECT_NE(
            std::string(error.what())
                .find("domain 'sums' with 13 x 1 x 1 elements of 8 bytes, where the job has 'sums' with 14"),
            std::string::npos)
            << error.what();
    }
    EXPECT_THROW(snapshot.restore(Job("one domain", 10).accumulates(numbered.sums)), Error);
}

} // namespace
} // namespace headrace::test
