// The file that a run goes on from: whole, or refused with the reason.
#include "numbered.hpp"

#include <core/scratch_folder.hpp>
#include <core/seeds.hpp>
#include <headrace/internal/domains/epochs/checkpoint_file.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <sys/resource.h>

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

TEST_F(CheckpointFile, LeftoversOfAKilledProcessAreReplaced) {
    folder_.write("run.checkpoint.partial", "half of it");
    write_checkpoint(file_, identity_, {snapshot_.done + 2, snapshot_.bytes});
    EXPECT_EQ(read().done, snapshot_.done + 2);
    EXPECT_EQ(folder_.list(), std::vector<std::string>{"run.checkpoint"});
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
    const NumberedJob numbered{3};
    const Job job = numbered.job(identity_.units.end).only_units(identity_.units);
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
        try {
            this->read().restore(job);
            ++read;
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(read, 0);
    EXPECT_GT(refused, 0);
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
