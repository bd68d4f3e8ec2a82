// Frames in files and pipes: what streams say, and what happens when they say it wrongly or stop half-way.
#include "apps/scratch_folder.hpp"
#include "apps/sobel_reference.hpp"
#include "devices/devices_fixture.hpp"
#include "devices/requests.hpp"
#include "sobel/filter.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace sobel::test {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using path_tracer::test::ScratchFolder;

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

bool mentions(const Error& error, const std::string& word) {
    return std::string(error.what()).find(word) != std::string::npos;
}

std::string content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// ---- headers

std::vector<std::pair<int, int>> sizes(const std::string& header) {
    std::vector<std::pair<int, int>> found;
    for (const Plane& plane : parse_y4m("made up", "YUV4MPEG2 " + header).planes.plane)
        if (plane.rows > 0) found.emplace_back(plane.columns, plane.rows);
    return found;
}

TEST(SobelFormat, ChromaPlanesHaveTheSizesThatTheirFormatSays) {
    using Sizes = std::vector<std::pair<int, int>>;
    for (const char* chroma : {"", " C420", " C420jpeg", " C420mpeg2", " C420paldv"})
        EXPECT_EQ(sizes(std::string("W5 H3 F25:1 Ip A1:1") + chroma), (Sizes{{5, 3}, {3, 2}, {3, 2}}))
            << chroma;
    EXPECT_EQ(sizes("W5 H3 C422"), (Sizes{{5, 3}, {3, 3}, {3, 3}}));
    EXPECT_EQ(sizes("W5 H3 C440"), (Sizes{{5, 3}, {5, 2}, {5, 2}}));
    EXPECT_EQ(sizes("W5 H3 C444"), (Sizes{{5, 3}, {5, 3}, {5, 3}}));
    EXPECT_EQ(sizes("W5 H3 C411"), (Sizes{{5, 3}, {2, 3}, {2, 3}}));
    EXPECT_EQ(sizes("W5 H3 C410"), (Sizes{{5, 3}, {2, 1}, {2, 1}}));
    EXPECT_EQ(sizes("W5 H3 Cmono"), (Sizes{{5, 3}}));
    EXPECT_EQ(sizes("W5 H3 C444alpha"), (Sizes{{5, 3}, {5, 3}, {5, 3}, {5, 3}}));
    EXPECT_EQ(yuv_420(1920, 1080).planes.bytes(), 3110400U);
}

TEST(SobelFormat, HeadersThatCannotBeUsedSayWhy) {
    const auto refused = [](const std::string& line, const std::string& word) {
        const Error error = error_of([&] { static_cast<void>(parse_y4m("film.y4m", line)); });
        EXPECT_TRUE(error.is_users_mistake());
        EXPECT_TRUE(mentions(error, "film.y4m") && mentions(error, word)) << error.what();
    };
    refused("RIFF....AVI", "YUV4MPEG2");
    refused("YUV4MPEG W4 H4", "YUV4MPEG2");
    refused("YUV4MPEG2", "width");
    refused("YUV4MPEG2 H4", "width");
    refused("YUV4MPEG2 W4", "height");
    for (const char* size : {"", "0", "-1", "65536", "1000000000000", "4x"}) {
        refused(std::string("YUV4MPEG2 W") + size + " H4", "width");
        refused(std::string("YUV4MPEG2 W4 H") + size, "height");
    }
    for (const char* chroma : {"420p10", "422p12", "444p16", "mono16", "mono9", "4:2:0", ""})
        refused(std::string("YUV4MPEG2 W4 H4 C") + chroma, std::string("C") + chroma + ",");
    for (const int size : {0, -1, 65536})
        EXPECT_TRUE(error_of([&] { static_cast<void>(yuv_420(size, 4)); }).is_users_mistake());
}

TEST(SobelFormat, RawFramesGetAHeaderThatCanBeReadAgain) {
    const FrameFormat raw = yuv_420(17, 9);
    const FrameFormat written = as_y4m(raw);
    const FrameFormat again = parse_y4m("made up", written.y4m);
    EXPECT_EQ(again.planes.bytes(), raw.planes.bytes());
    EXPECT_EQ(again.planes.plane[0].columns, 17);
    EXPECT_FALSE(as_raw(written).is_y4m());
}

// ---- sources and sinks

/// Frames that can be read from a stream before it ends or breaks, and the error if it breaks.
struct Found {
    std::vector<Frame> frames;
    std::vector<std::string> headers;
    std::optional<Error> error;
};
Found read_all(const std::string& file, const FrameFormat* raw = nullptr) {
    Found found;
    try {
        StreamSource source(file, raw);
        FrameHeader header;
        Frame frame(source.format().planes.bytes());
        while (source.read(header, frame)) {
            found.frames.push_back(frame);
            found.headers.emplace_back(header.text, header.length);
        }
    } catch (const Error& error) {
        found.error = error;
    }
    return found;
}

constexpr const char* header_line = "YUV4MPEG2 W5 H3 F25:1 Im A1:1 C420mpeg2 XCOMMENT=kept\n";

std::string small_film(std::vector<Frame>& frames) {
    std::string bytes = header_line;
    const Planes planes = yuv_420(5, 3).planes;
    for (const char* parameters : {"", " Itpp", " Xanything"}) {
        const Frame& frame = frames.emplace_back(noise(planes, static_cast<std::uint32_t>(frames.size())));
        bytes += std::string("FRAME") + parameters + "\n";
        bytes.append(frame.begin(), frame.end());
    }
    return bytes;
}

TEST(SobelStream, WhatIsReadIsWrittenAgainWithItsHeaders) {
    const ScratchFolder folder;
    std::vector<Frame> frames;
    const std::string film = small_film(frames);
    StreamSource source(folder.write("film.y4m", film), nullptr);
    const std::string copy = folder.path() / "copy.y4m";
    {
        StreamSink sink(copy, source.format());
        FrameHeader header;
        Frame frame(source.format().planes.bytes());
        for (const Frame& expected : frames) {
            ASSERT_TRUE(source.read(header, frame));
            EXPECT_EQ(frame, expected);
            sink.write(header, frame);
        }
        EXPECT_FALSE(source.read(header, frame));
        sink.close();
    }
    EXPECT_EQ(content(copy), film);
}

TEST(SobelStream, OneThatIsCutAnywhereGivesItsWholeFramesAndThenSaysSo) {
    const ScratchFolder folder;
    std::vector<Frame> frames;
    const std::string film = small_film(frames);
    const std::string header = header_line;
    for (std::size_t length = 0; length < film.size(); ++length) {
        const std::string file = folder.write("cut.y4m", film.substr(0, length));
        const Found found = read_all(file);
        std::size_t whole = 0, end = header.size();
        for (const char* line : {"FRAME\n", "FRAME Itpp\n", "FRAME Xanything\n"}) {
            const std::size_t next = end + std::strlen(line) + frames.front().size();
            if (next > length) break;
            end = next;
            ++whole;
        }
        ASSERT_EQ(found.frames.size(), whole) << length << " bytes";
        ASSERT_EQ(found.error.has_value(), length != end) << length << " bytes";
        if (!found.error) continue;
        EXPECT_TRUE(mentions(*found.error, "cut.y4m")) << found.error->what();
        if (length <= header.size()) continue;
        EXPECT_TRUE(mentions(*found.error, "frame " + std::to_string(whole + 1))) << found.error->what();
    }
}

TEST(SobelStream, RawFramesEndWithAWholeOne) {
    const ScratchFolder folder;
    const FrameFormat raw = yuv_420(5, 3);
    const std::size_t bytes = raw.planes.bytes();
    for (const std::size_t length : {bytes, 2 * bytes}) {
        const Found found = read_all(folder.write("film.yuv", std::string(length, 'x')), &raw);
        EXPECT_EQ(found.frames.size(), length / bytes);
        EXPECT_FALSE(found.error);
    }
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, bytes - 1, bytes + 1, 2 * bytes - 1}) {
        const Found found = read_all(folder.write("film.yuv", std::string(length, 'x')), &raw);
        EXPECT_EQ(found.frames.size(), length / bytes);
        ASSERT_TRUE(found.error) << length;
        EXPECT_TRUE(mentions(*found.error, "film.yuv"));
    }
}

TEST(SobelStream, FramesThatDoNotBeginAsTheyShouldAreNotTaken) {
    const ScratchFolder folder;
    std::vector<Frame> frames;
    std::string film = small_film(frames);
    film.replace(film.rfind("FRAME"), 5, "FRAMX");
    EXPECT_TRUE(mentions(*read_all(folder.write("film.y4m", film)).error, "frame 3 does not begin"));
    const std::string endless = std::string(header_line) + "FRAME" + std::string(1000, ' ') + "\n";
    EXPECT_TRUE(mentions(*read_all(folder.write("film.y4m", endless)).error, "does not end"));
    EXPECT_TRUE(
        mentions(*read_all(folder.write("film.y4m", "YUV4MPEG2 W5 H3" + std::string(5000, ' '))).error,
                 "does not end"));
}

TEST(SobelStream, FilesThatCannotBeOpenedAreTheUsersMistake) {
    const ScratchFolder folder;
    const FrameFormat format = yuv_420(4, 4);
    EXPECT_TRUE(read_all(folder.path() / "nowhere.y4m").error->is_users_mistake());
    EXPECT_TRUE(
        error_of([&] { StreamSink(folder.path() / "nowhere" / "out.y4m", format); }).is_users_mistake());
    EXPECT_TRUE(error_of([&] { StreamSink(folder.path(), format); }).is_users_mistake());
    EXPECT_EQ(read_all(folder.path()).error->kind(), ErrorKind::invalid_argument); // a folder
}

TEST(SobelStream, AFullDiskIsAnError) {
    if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full on this machine";
    const FrameFormat format = yuv_420(4, 4);
    StreamSink sink("/dev/full", format);
    const Error error = error_of([&] { sink.write({}, Frame(format.planes.bytes())); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.native_code(), ENOSPC);
}

// ---- pipes

/// Two ends, as names that can be opened.
class Pipe {
public:
    Pipe() {
        if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    }
    ~Pipe() {
        close(0);
        close(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    [[nodiscard]] std::string name(int end) const { return "/proc/self/fd/" + std::to_string(ends_[end]); }
    void close(int end) {
        if (ends_[end] >= 0) ::close(ends_[end]);
        ends_[end] = -1;
    }

private:
    int ends_[2];
};

TEST(SobelPipe, AnHourOfFramesTakesNoMoreMemoryThanAMinute) {
    const headrace::test::TestDeadline deadline("an hour of frames", std::chrono::seconds(110));
    constexpr std::int64_t minute = 25 * 60, hour = 60 * minute;
    constexpr std::size_t most_growth = 4 << 20; // the frames are 290 MB
    const auto device = std::move(headrace::select_devices("cpu").devices.front());
    const FrameFormat format = yuv_420(48, 45);
    Pipe in, out;
    StreamSource source(in.name(0), &format);
    StreamSink sink(out.name(1), format);
    const Frame frame = noise(format.planes, 1), edges = reference(format.planes, frame);
    std::jthread writer([&, to = std::make_shared<StreamSink>(in.name(1), format)] {
        for (std::int64_t i = 0; i < hour; ++i) to->write({}, frame);
    });
    std::int64_t seen = 0;
    std::jthread reader([&, from = std::make_shared<StreamSource>(out.name(0), &format)] {
        FrameHeader header;
        Frame found(format.planes.bytes());
        for (; seen < hour && from->read(header, found); ++seen)
            if (found != edges) break;
    });
    in.close(1);

    headrace::Controller controller(*device);
    headrace::HostLane reading("reading"), writing("writing");
    Filter filter({controller, reading, writing}, format, 4, 4);
    std::size_t after_a_minute = 0;
    EXPECT_EQ(filter.run(&source, &sink, hour,
                         [&](std::int64_t i) {
                             if (i == minute) after_a_minute = headrace::test::resident_memory();
                         }),
              hour);
    EXPECT_LT(headrace::test::resident_memory(), after_a_minute + most_growth);
    reader.join();
    EXPECT_EQ(seen, hour) << "a frame with other edges, or none";
}

TEST(SobelPipe, AReaderThatLeavesEndsTheRunWithWords) {
    const headrace::test::TestDeadline deadline("a reader that leaves", std::chrono::seconds(60));
    std::signal(SIGPIPE, SIG_IGN); // as main() does
    const auto device = std::move(headrace::select_devices("cpu").devices.front());
    const FrameFormat format = yuv_420(320, 240);
    Pipe out;
    StreamSink sink(out.name(1), format);
    std::jthread reader([&, from = std::make_shared<StreamSource>(out.name(0), &format)]() mutable {
        FrameHeader header;
        Frame found(format.planes.bytes());
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(from->read(header, found));
        out.close(0);
        from.reset();
    });
    headrace::Controller controller(*device);
    headrace::HostLane reading("reading"), writing("writing");
    MemorySource source(format, 2);
    Filter filter({controller, reading, writing}, format, 3, 3);
    const Error error = error_of([&] { filter.run(&source, &sink, 1'000'000); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_TRUE(mentions(error, "nobody reads")) << error.what();
}

} // namespace
} // namespace sobel::test
