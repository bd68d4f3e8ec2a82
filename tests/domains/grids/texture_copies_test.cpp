// tests/domains/grids/texture_copies_test.cpp - when a texture that cannot show memory in place is copied: on
// a made-up device.
#include <core/fake_device.hpp>
#include <headrace/domains/grids/host_task.hpp>
#include <headrace/domains/grids/texture.hpp>
#include <headrace/domains/grids/transfers.hpp>

#include <gtest/gtest.h>

namespace headrace::test {
namespace {

struct Copies {
    std::atomic<int> made = 0;  ///< textures
    std::atomic<int> shown = 0; ///< their refreshes
    bool in_place = false;
};

class CountedTexture final : public DeviceTexture {
public:
    explicit CountedTexture(Copies& copies) : copies_(copies) { ++copies.made; }
    [[nodiscard]] std::uint64_t handle() const noexcept override { return 77; }
    [[nodiscard]] bool shows_memory() const noexcept override { return copies_.in_place; }
    void refresh(const NativeStream&) override { ++copies_.shown; }

private:
    Copies& copies_;
};

/// A fake device with textures.
class Textured final : public Device {
public:
    explicit Textured(Copies& copies) : copies_(copies) {}
    [[nodiscard]] const DeviceInfo& info() const noexcept override { return device_.info(); }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override { return device_.allocate(size); }
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override {
        return device_.allocate_host(size);
    }
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing timing) override {
        return device_.make_stream(timing);
    }
    [[nodiscard]] bool reaches(const Device& other) const override { return device_.reaches(other); }
    [[nodiscard]] Bytes free_memory() const override { return device_.free_memory(); }
    [[nodiscard]] std::unique_ptr<DeviceTexture> make_texture(const Memory&, Bytes, int, int) override {
        return std::make_unique<CountedTexture>(copies_);
    }
    void fail_next_launch() { device_.fail_next(FakeRequest::launch); }

private:
    FakeDevice device_;
    Copies& copies_;
};

class TextureCopies : public ::testing::Test {
protected:
    int copies_after(const auto& step) {
        step();
        static_cast<void>(texture_.view_on(controller_));
        controller_.wait_all();
        return copies_.shown;
    }
    void write() { static_cast<void>(pixels_.fill()); }

    Copies copies_;
    Textured device_{copies_};
    Controller controller_{device_};
    Array<float> pixels_{"pixels", {3, 5}};
    Texture texture_{pixels_};
};

TEST_F(TextureCopies, AreMadeWhenSomethingHasWrittenTheArray) {
    EXPECT_EQ(copies_after([&] { write(); }), 1);
    EXPECT_EQ(copies_after([] {}), 1);
    EXPECT_EQ(copies_after([&] { headrace::gather(pixels_.tile()).wait(); }),
              1); // moves, and changes nothing
    EXPECT_EQ(copies_after([&] { write(); }), 2);
    EXPECT_EQ(copies_after([&] {
                  host_task(
                      controller_, [](Io<float>) {}, pixels_);
              }),
              3);
    EXPECT_EQ(copies_after([&] {
                  host_task(
                      controller_, [](In<float>) {}, pixels_);
              }),
              3);
    EXPECT_EQ(copies_.made, 1);
}

TEST_F(TextureCopies, AreMadeAgainForAnotherMemory) {
    EXPECT_EQ(copies_after([&] { write(); }), 1);
    const void* const before = controller_.memory(pixels_.storage()).address();
    controller_.release(pixels_.storage());
    const bool elsewhere = controller_.memory(pixels_.storage()).address() != before; // as the heap likes
    EXPECT_EQ(copies_after([] {}), elsewhere ? 2 : 1);
    EXPECT_EQ(copies_.made, elsewhere ? 2 : 1);
}

TEST_F(TextureCopies, AreMadeAgainWhenOneFailed) {
    write();
    device_.fail_next_launch();
    static_cast<void>(texture_.view_on(controller_));
    EXPECT_THROW(controller_.wait_all(), Error);
    EXPECT_EQ(copies_.shown, 0);
    EXPECT_EQ(copies_after([] {}), 1);
}

TEST_F(TextureCopies, AreNotNeededInPlace) {
    copies_.in_place = true;
    EXPECT_EQ(copies_after([&] { write(); }), 0);
    EXPECT_EQ(texture_.view_on(controller_).handle, 77u);
}

TEST_F(TextureCopies, AreNotMadeForTheExactFilter) {
    write();
    const Texture exact(pixels_, Addressing::mirror, Filter::exact);
    EXPECT_EQ(exact.view_on(controller_).handle, 0u);
    EXPECT_EQ(copies_.made, 0);
}

} // namespace
} // namespace headrace::test
