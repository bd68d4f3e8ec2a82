// The Sobel filter on every device: each bit as the reference has it, whatever overlaps; and what becomes of
// a run whose source or sink fails.
#include "apps/sobel_reference.hpp"
#include "devices/devices_fixture.hpp"
#include "sobel/filter.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>

namespace sobel::test {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using headrace::test::every_device;
using headrace::test::OnDevices;

/// Frames of noise; the one with the number `breaks_at` cannot be read, the one with the number `ends_at` is
/// not there.
class NoiseSource final : public FrameSource {
public:
    explicit NoiseSource(const Planes& planes, std::int64_t ends_at, std::int64_t breaks_at = -1)
        : planes_(planes), ends_at_(ends_at), breaks_at_(breaks_at) {}

    bool read(FrameHeader& header, Pixels pixels) override {
        if (next_ == ends_at_) return false;
        if (next_ == breaks_at_) throw Error{ErrorKind::io, "the source broke"};
        if (next_ > std::max(ends_at_, breaks_at_)) ADD_FAILURE() << "reads on after the end";
        std::ranges::copy(noise(planes_, static_cast<std::uint32_t>(next_)), pixels.begin());
        header.text = std::string(1, static_cast<char>('a' + next_ % 26));
        ++next_;
        return true;
    }

private:
    const Planes planes_;
    const std::int64_t ends_at_, breaks_at_;
    std::int64_t next_ = 0;
};

class KeepingSink final : public FrameSink {
public:
    explicit KeepingSink(std::int64_t breaks_at = -1) : breaks_at_(breaks_at) {}

    void write(const FrameHeader& header, ConstPixels pixels) override {
        if (static_cast<std::int64_t>(frames.size()) == breaks_at_)
            throw Error{ErrorKind::io, "the sink broke"};
        EXPECT_EQ(header.text.at(0), static_cast<char>('a' + frames.size() % 26)) << "not its own header";
        frames.emplace_back(pixels.begin(), pixels.end());
    }
    void close() override { closed = true; }

    std::vector<Frame> frames;
    bool closed = false;

private:
    const std::int64_t breaks_at_;
};

/// A controller, its lanes and a filter, in one mode.
class Machine {
public:
    Machine(headrace::Device& device, const FrameFormat& format, bool asynchronous = true, int places_in = 3,
            int places_out = 3)
        : controller_(device, {.asynchronous = asynchronous}) {
        reading_.set_asynchronous(asynchronous);
        writing_.set_asynchronous(asynchronous);
        filter_.emplace(Lanes{controller_, reading_, writing_}, format, places_in, places_out);
    }
    Filter& filter() { return *filter_; }
    headrace::Controller& controller() { return controller_; }

private:
    headrace::Controller controller_;
    headrace::HostLane reading_{"reading"}, writing_{"writing"};
    std::optional<Filter> filter_;
};

constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

void expect_edges(const Planes& planes, const std::vector<Frame>& edges, std::size_t count) {
    ASSERT_EQ(edges.size(), count);
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(edges[i], reference(planes, noise(planes, static_cast<std::uint32_t>(i)))) << "frame " << i;
}

class SobelFilter : public OnDevices {};

TEST_P(SobelFilter, FindsTheEdgesOfEveryPlaneOfOddSizes) {
    for (const char* format :
         {"W1 H1", "W2 H2", "W3 H3", "W17 H3", "W18 H5", "W33 H19", "W101 H57", "W1366 H8",
          "W48 H64 C444alpha", "W47 H5 C411", "W31 H31 C422", "W30 H33 Cmono", "W9 H9 C410"}) {
        SCOPED_TRACE(format);
        const FrameFormat frames = video::parse_y4m("made up", std::string("YUV4MPEG2 ") + format);
        NoiseSource source(frames.planes, 2);
        KeepingSink sink;
        Machine machine(device(), frames);
        EXPECT_EQ(machine.filter().run(&source, &sink, endless), 2);
        expect_edges(frames.planes, sink.frames, 2);
    }
}

/// One frame, again and again.
class OneFrameSource final : public FrameSource {
public:
    OneFrameSource(Frame frame, int frames) : frame_(std::move(frame)), left_(frames) {}
    bool read(FrameHeader& header, Pixels pixels) override {
        header.text = "a";
        std::ranges::copy(frame_, pixels.begin());
        return left_-- > 0;
    }

private:
    const Frame frame_;
    int left_;
};

TEST_P(SobelFilter, FindsTheEdgesOfFieldsAndOfMoreThanEightBits) {
    for (const char* format : {"W33 H19 C420p10", "W18 H5 C422p12", "W40 H9 C444p16", "W17 H31 Cmono9",
                               "W5 H4 Cmono14", "W1 H1 C420p10", "W33 H19 It", "W40 H12 Ib C420mpeg2",
                               "W17 H3 It", "W16 H2 Ib", "W50 H20 It C422p10", "W9 H9 It C444p16"}) {
        SCOPED_TRACE(format);
        const FrameFormat frames = video::parse_y4m("made up", std::string("YUV4MPEG2 ") + format);
        const Frame frame = noise(frames, 3);
        OneFrameSource source(frame, 1);
        KeepingSink sink;
        Machine machine(device(), frames);
        EXPECT_EQ(machine.filter().run(&source, &sink, endless), 1);
        ASSERT_EQ(sink.frames.size(), 1U);
        EXPECT_EQ(sink.frames[0], reference(frames, frame));
    }
}

TEST_P(SobelFilter, FindsTheSameInBothModesWithFewPlacesOrMany) {
    const FrameFormat format = yuv_420(101, 57);
    for (const bool asynchronous : {false, true})
        for (const int places : {1, 2, 5, 40}) {
            NoiseSource source(format.planes, 23);
            KeepingSink sink;
            Machine machine(device(), format, asynchronous, places, 1 + places / 2);
            EXPECT_EQ(machine.filter().run(&source, &sink, endless), 23);
            expect_edges(format.planes, sink.frames, 23);
            EXPECT_TRUE(sink.closed);
        }
}

TEST_P(SobelFilter, FramesInMemoryAreNewToTheDeviceEveryTime) {
    const FrameFormat format = yuv_420(64, 48);
    Machine machine(device(), format, true, 3, 2);
    for (std::uint32_t i = 0; i < 3; ++i)
        std::ranges::copy(noise(format.planes, i), machine.filter().frame(i).begin());
    const std::uint64_t before = machine.controller().traffic().in;
    EXPECT_EQ(machine.filter().run(nullptr, nullptr, 8), 8); // frames 0 1 2 0 1 2 0 1: the last two are kept
    const std::uint64_t moved = machine.controller().traffic().in - before;
    EXPECT_EQ(moved, machine.controller().is_zero_copy() ? 0 : 8 * format.planes.bytes());
    for (const std::uint32_t i : {0U, 1U}) {
        const ConstPixels edges = machine.filter().edges(i);
        EXPECT_EQ(Frame(edges.begin(), edges.end()), reference(format.planes, noise(format.planes, i)));
    }
}

TEST_P(SobelFilter, StopsAfterSoManyFrames) {
    const FrameFormat format = yuv_420(16, 16);
    for (const std::int64_t most : {1, 2, 7}) {
        NoiseSource source(format.planes, endless);
        KeepingSink sink;
        Machine machine(device(), format);
        EXPECT_EQ(machine.filter().run(&source, &sink, most), most);
        EXPECT_EQ(sink.frames.size(), static_cast<std::size_t>(most));
    }
}

TEST_P(SobelFilter, RunsAgain) {
    const FrameFormat format = yuv_420(16, 16);
    Machine machine(device(), format);
    for (int i = 0; i < 2; ++i) {
        NoiseSource source(format.planes, 5);
        KeepingSink sink;
        EXPECT_EQ(machine.filter().run(&source, &sink, endless), 5);
        expect_edges(format.planes, sink.frames, 5);
    }
}

TEST_P(SobelFilter, WritesEveryFrameBeforeOneThatCannotBeRead) {
    const FrameFormat format = yuv_420(20, 10);
    for (const bool asynchronous : {false, true})
        for (const std::int64_t broken : {0, 1, 2, 9, 10, 11}) {
            NoiseSource source(format.planes, endless, broken);
            KeepingSink sink;
            {
                Machine machine(device(), format, asynchronous);
                try {
                    machine.filter().run(&source, &sink, broken + 1); // so that it is found at the very end
                    ADD_FAILURE() << "did not tell";
                } catch (const Error& error) {
                    EXPECT_EQ(error.kind(), ErrorKind::io);
                    EXPECT_NE(std::string(error.what()).find("the source broke"), std::string::npos);
                }
            }
            expect_edges(format.planes, sink.frames, static_cast<std::size_t>(broken));
        }
}

TEST_P(SobelFilter, WritesNothingAfterAFrameThatCannotBeWritten) {
    const FrameFormat format = yuv_420(20, 10);
    for (const bool asynchronous : {false, true})
        for (const std::int64_t broken : {0, 1, 2, 11}) {
            NoiseSource source(format.planes, endless);
            KeepingSink sink(broken);
            {
                Machine machine(device(), format, asynchronous);
                EXPECT_THROW(machine.filter().run(&source, &sink, endless), Error);
            }
            expect_edges(format.planes, sink.frames, static_cast<std::size_t>(broken));
            EXPECT_FALSE(sink.closed);
        }
}

INSTANTIATE_TEST_SUITE_P(, SobelFilter, every_device(), headrace::test::test_name);

} // namespace
} // namespace sobel::test
