// Frames through pipes: a stream that does not end, and a reader that does.
#include "apps/error_of.hpp"
#include "apps/sobel_reference.hpp"
#include "devices/devices_fixture.hpp"
#include "devices/requests.hpp"
#include "sobel/filter.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace sobel::test {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using headrace::test::error_of;
using headrace::test::mentions;

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
    const headrace::test::TestDeadline deadline("an hour of frames");
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
    const headrace::test::TestDeadline deadline("a reader that leaves");
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
