// Frames in files: what streams say, and what happens when they say it wrongly or stop half-way.
#include "apps/error_of.hpp"
#include "video/frame_stream.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

namespace video::test {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using headrace::test::error_of;
using headrace::test::mentions;
using headrace::test::ScratchFolder;
using Frame = std::vector<std::uint8_t>;

std::string content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// No two frames and no two neighbours are the same.
Frame counted(const Planes& planes, std::size_t number) {
    Frame frame(planes.bytes());
    for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<std::uint8_t>(7 * i + number);
    return frame;
}

// ---- headers

std::vector<std::pair<int, int>> sizes(const std::string& header) {
    std::vector<std::pair<int, int>> found;
    for (const Plane& plane : parse_y4m("made up", "YUV4MPEG2 " + header).planes.plane)
        if (plane.rows > 0) found.emplace_back(plane.columns, plane.rows);
    return found;
}

TEST(VideoFormat, ChromaPlanesHaveTheSizesThatTheirFormatSays) {
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

TEST(VideoFormat, SamplesMayHaveMoreThanEightBits) {
    for (const auto& [chroma, bits, bytes] : {std::tuple("420p9", 9, 54),
                                              {"420p10", 10, 54},
                                              {"422p10", 10, 66},
                                              {"444p10", 10, 90},
                                              {"mono10", 10, 30},
                                              {"420p12", 12, 54},
                                              {"422p12", 12, 66},
                                              {"444p12", 12, 90},
                                              {"mono12", 12, 30},
                                              {"420p14", 14, 54},
                                              {"420p16", 16, 54},
                                              {"422p16", 16, 66},
                                              {"444p16", 16, 90},
                                              {"mono16", 16, 30},
                                              {"420mpeg2", 8, 27},
                                              {"mono", 8, 15}}) {
        const FrameFormat format = parse_y4m("made up", std::string("YUV4MPEG2 W5 H3 C") + chroma);
        EXPECT_EQ(format.bytes(), static_cast<std::size_t>(bytes)) << chroma;
        EXPECT_EQ(format.maximum, (1 << bits) - 1) << chroma;
    }
}

TEST(VideoFormat, AnOldExtensionSaysTheChromaWhereNothingElseDoes) {
    const auto bytes = [](const std::string& header) {
        return parse_y4m("made up", "YUV4MPEG2 W5 H3 " + header).bytes();
    };
    EXPECT_EQ(bytes("XYSCSS=444"), 45U);
    EXPECT_EQ(bytes("XYSCSS=422P10"), 66U);
    EXPECT_EQ(bytes("XYSCSS=420JPEG"), 27U);
    EXPECT_EQ(bytes("C420jpeg XYSCSS=444"), 27U);
    EXPECT_EQ(bytes("XYSCSSX=444"), 27U);
    EXPECT_TRUE(mentions(error_of([&] { static_cast<void>(bytes("XYSCSS=RGB")); }), "Crgb"));
}

TEST(VideoFormat, InterlacingIsKnown) {
    const auto found = [](const std::string& header) {
        return parse_y4m("made up", "YUV4MPEG2 W5 H3" + header).interlacing;
    };
    for (const char* none : {"", " Ip", " I?"}) EXPECT_EQ(found(none), Interlacing::none) << none;
    EXPECT_EQ(found(" It"), Interlacing::top_first);
    EXPECT_EQ(found(" Ib C422"), Interlacing::bottom_first);
    EXPECT_EQ(found(" Im"), Interlacing::mixed);
}

TEST(VideoFormat, TheRateIsTheHeadersOrUnknown) {
    const auto rate = [](const std::string& header) {
        return parse_y4m("made up", "YUV4MPEG2 W5 H3" + header).rate;
    };
    EXPECT_EQ(rate(" F30000:1001 Ip"), "30000:1001");
    EXPECT_EQ(rate(" Ip F25:1"), "25:1");
    for (const char* none : {"", " F", " F25", " F:", " F25:", " F:1", " F-1:1", " F2.5:1", " F1:1:1"})
        EXPECT_EQ(rate(none), "0:0") << none;
    EXPECT_NE(as_y4m(yuv_420(4, 2)).y4m.find(" F0:0 "), std::string::npos);
}

TEST(VideoFormat, HeadersThatCannotBeUsedSayWhy) {
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
    for (const char* chroma : {"420p11", "420p8", "422p32", "mono8", "monop10", "411p10", "RGB", "4:2:0", ""})
        refused(std::string("YUV4MPEG2 W4 H4 C") + chroma, std::string("C") + chroma + ",");
    for (const char* interlacing : {"I", "Ix", "IT"})
        refused(std::string("YUV4MPEG2 W4 H4 ") + interlacing, std::string("interlacing is ") + interlacing);
    for (const int size : {0, -1, 65536})
        EXPECT_TRUE(error_of([&] { static_cast<void>(yuv_420(size, 4)); }).is_users_mistake());
}

TEST(VideoFormat, RawFramesGetAHeaderThatCanBeReadAgain) {
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
            found.headers.push_back(header.text);
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
        const Frame& frame = frames.emplace_back(counted(planes, frames.size()));
        bytes += std::string("FRAME") + parameters + "\n";
        bytes.append(frame.begin(), frame.end());
    }
    return bytes;
}

TEST(VideoStream, WhatIsReadIsWrittenAgainWithItsHeaders) {
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

TEST(VideoStream, OneThatIsCutAnywhereGivesItsWholeFramesAndThenSaysSo) {
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

TEST(VideoStream, RawFramesEndWithAWholeOne) {
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

TEST(VideoStream, FramesThatDoNotBeginAsTheyShouldAreNotTaken) {
    const ScratchFolder folder;
    std::vector<Frame> frames;
    std::string film = small_film(frames);
    film.replace(film.rfind("FRAME"), 5, "FRAMX");
    EXPECT_TRUE(mentions(*read_all(folder.write("film.y4m", film)).error, "frame 3 does not begin"));
    film.replace(film.rfind("FRAMX"), 5, "FRAME");
    film.replace(film.find("FRAME Itpp"), 10, "FRAMEItpp ");
    EXPECT_TRUE(mentions(*read_all(folder.write("film.y4m", film)).error, "frame 2 does not begin"));
}

TEST(VideoStream, HeadersAreAsLongAsTheyMayBe) {
    const ScratchFolder folder;
    const auto film = [](std::size_t header, std::size_t frame) {
        std::string line = "YUV4MPEG2 W5 H3 XCOMMENT=", in_frame = "FRAME X";
        line.append(header - line.size(), 'x');
        in_frame.append(frame - in_frame.size(), 'y');
        return line + "\n" + in_frame + "\n" + std::string(27, 'z');
    };
    for (const auto& [header, frame] :
         {std::pair<std::size_t, std::size_t>{5120, 200}, {longest_header, longest_header}}) {
        const std::string bytes = film(header, frame), file = folder.write("film.y4m", bytes);
        const Found found = read_all(file);
        ASSERT_FALSE(found.error) << found.error->what();
        ASSERT_EQ(found.headers.size(), 1U);
        EXPECT_EQ(found.headers[0].size(), frame);
        StreamSource source(file, nullptr);
        StreamSink sink(folder.path() / "copy.y4m", source.format());
        sink.write({found.headers[0]}, found.frames[0]);
        sink.close();
        EXPECT_EQ(content(folder.path() / "copy.y4m"), bytes);
    }
    const auto refused = [&](const std::string& bytes, const std::string& words) {
        const Found found = read_all(folder.write("film.y4m", bytes));
        ASSERT_TRUE(found.error);
        EXPECT_TRUE(mentions(*found.error, words)) << found.error->what();
    };
    refused(film(longest_header + 1, 20), "header has more than 65536 bytes");
    refused(film(100, longest_header + 1), "frame 1 has a header that has more than 65536 bytes");
    refused("YUV4MPEG2 W5 H3" + std::string(5000, ' '), "its header does not end");
    refused("YUV4MPEG2 W5 H3\nFRAME X", "frame 1 has a header that does not end");
}

TEST(VideoStream, WhatIsPeekedAtIsReadAgain) {
    const ScratchFolder folder;
    std::vector<Frame> frames;
    auto bytes = std::make_unique<ByteInput>(folder.write("film.y4m", small_film(frames)));
    EXPECT_EQ(bytes->peek(9), "YUV4MPEG2");
    StreamSource source(std::move(bytes), nullptr);
    FrameHeader header;
    Frame frame(source.format().bytes());
    ASSERT_TRUE(source.read(header, frame));
    EXPECT_EQ(frame, frames[0]);
    EXPECT_EQ(ByteInput(folder.write("short", "abc")).peek(9), "abc");
}

TEST(VideoStream, FilesThatCannotBeOpenedAreTheUsersMistake) {
    const ScratchFolder folder;
    const FrameFormat format = yuv_420(4, 4);
    EXPECT_TRUE(read_all(folder.path() / "nowhere.y4m").error->is_users_mistake());
    EXPECT_TRUE(
        error_of([&] { StreamSink(folder.path() / "nowhere" / "out.y4m", format); }).is_users_mistake());
    EXPECT_TRUE(error_of([&] { StreamSink(folder.path(), format); }).is_users_mistake());
    EXPECT_EQ(read_all(folder.path()).error->kind(), ErrorKind::invalid_argument); // a folder
}

TEST(VideoStream, AFullDiskIsAnError) {
    if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full on this machine";
    const FrameFormat format = yuv_420(4, 4);
    StreamSink sink("/dev/full", format);
    const Error error = error_of([&] { sink.write({}, Frame(format.planes.bytes())); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.native_code(), ENOSPC);
}

} // namespace
} // namespace video::test
