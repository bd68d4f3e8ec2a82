// tests/domains/scattering_test.cpp - what several devices have scattered comes together, whichever of
// them reach each other, and over the link where there is one.
#include <core/fake_device.hpp>
#include <core/seeds.hpp>
#include <headrace/domains/domain.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

struct Site {
    Site(std::size_t number, bool has_peers, Bytes memory)
        : device({.id = "fake:" + std::to_string(number), .has_peers = has_peers, .memory = memory}) {}
    FakeDevice device;
    Controller controller{device};
    std::unique_ptr<Stream> stream = device.make_stream();
};

/// Elements of several sizes: of one word, of several, and of no whole number of words.
template <class T>
class Scattering : public ::testing::Test {
protected:
    static constexpr Bytes large = 18 << 20; // five pieces
    static constexpr Bytes much = Bytes{1} << 30;
    std::mt19937_64 random_{fresh_seed()};
    std::vector<std::unique_ptr<Site>> sites_;
    std::vector<T> expected_;
    std::vector<bool> is_written_; // each element is for one device to write

    T some() {
        T value;
        for (auto& one : value)
            one = static_cast<typename T::value_type>(random_() % (1 << 20)); // a float can count on
        return value;
    }
    void have(const std::vector<bool>& peers, Bytes memory = much) {
        sites_.clear();
        for (std::size_t i = 0; i < peers.size(); ++i)
            sites_.push_back(std::make_unique<Site>(i, peers[i], memory));
    }
    Domain<T> domain(Bytes bytes, bool is_filled) {
        const std::uint64_t size = bytes / sizeof(T) + 1;
        Domain<T> x("x", {size});
        expected_.assign(size, T{});
        if (is_filled) {
            for (T& one : expected_) one = some();
            std::ranges::copy(expected_, x.fill().begin());
        }
        is_written_.assign(size, false);
        return x;
    }
    [[nodiscard]] T* replica(const Domain<T>& x, Site& site) {
        const auto made = x.data()->replica(joins_scattered(), site.controller, *site.stream);
        made.ready.wait();
        return static_cast<T*>(made.memory->address());
    }
    /// Every device writes elements of its own, the first and the last one among them.
    void scatter_everywhere(const Domain<T>& x, std::size_t each = 5000) {
        for (std::size_t number = 0; number < sites_.size(); ++number) {
            T* const elements = replica(x, *sites_[number]);
            const auto write = [&](std::uint64_t at) {
                if (is_written_[at]) return;
                is_written_[at] = true;
                elements[at] = expected_[at] = some();
            };
            if (number == 0) write(0);
            if (number == 1 || sites_.size() == 1) write(expected_.size() - 1);
            for (std::size_t i = 0; i < each; ++i) write(random_() % expected_.size());
        }
    }
    void expect_right(const Domain<T>& x) {
        const auto found = x.gather();
        const auto wrong = std::ranges::mismatch(found, expected_);
        EXPECT_EQ(wrong.in1, found.end()) << "element " << wrong.in1 - found.begin();
    }
    [[nodiscard]] unsigned requests(FakeRequest kind) const {
        unsigned all = 0;
        for (const auto& site : sites_) all += site->device.requests(kind);
        return all;
    }
};

using Elements =
    ::testing::Types<std::array<std::uint8_t, 1>, std::array<std::uint16_t, 1>, std::array<std::uint8_t, 3>,
                     std::array<std::uint32_t, 1>, std::array<float, 3>, std::array<std::uint64_t, 2>>;
TYPED_TEST_SUITE(Scattering, Elements);

TYPED_TEST(Scattering, ComesTogetherWhicheverDevicesReachEachOther) {
    for (const bool is_filled : {false, true})
        for (const std::size_t count : {1, 2, 3, 5}) {
            std::vector<bool> peers;
            for (std::size_t i = 0; i < count; ++i) peers.push_back(this->random_() % 3 != 0);
            this->have(peers);
            const auto x = this->domain(this->random_() % 4 == 0 ? 1000 : this->large / 2, is_filled);
            for (int round = 0; round < 2; ++round) { // the second begins with what the first has made
                std::fill(this->is_written_.begin(), this->is_written_.end(), false);
                this->scatter_everywhere(x);
                this->expect_right(x);
            }
        }
}

TYPED_TEST(Scattering, OfMuchIsSharedOutAmongDevicesThatReachEachOther) {
    this->have({true, false, true, true});
    const auto x = this->domain(this->large, true);
    this->scatter_everywhere(x);
    std::vector<Bytes> before;
    for (const auto& site : this->sites_) before.push_back(site->device.bytes_in());
    this->expect_right(x);
    const auto bytes = static_cast<double>(this->expected_.size() * sizeof(TypeParam)),
               piece = 4.0 * (1 << 20);
    for (std::size_t i = 0; i < 4; ++i) {
        const FakeDevice& device = this->sites_[i]->device;
        const bool is_linked = i != 1;
        EXPECT_NEAR(static_cast<double>(device.bytes_out()), is_linked ? bytes / 3 : bytes, piece) << i;
        EXPECT_NEAR(static_cast<double>(device.bytes_in() - before[i]), is_linked ? bytes / 3 : 0, piece)
            << i;
        EXPECT_EQ(device.requests(FakeRequest::take_changes) > 0, is_linked) << i;
    }
}

TYPED_TEST(Scattering, OfADeviceThatGoesComesBeforeTheOthers) {
    for (const bool is_filled : {false, true}) {
        this->have({true, true, false, true});
        const auto x = this->domain(this->large, is_filled);
        this->scatter_everywhere(x);
        x.data()->forget(this->sites_.front()->controller);
        EXPECT_EQ(this->requests(FakeRequest::take_changes), 0U) << "it is alone";
        this->expect_right(x);
        EXPECT_GT(this->requests(FakeRequest::take_changes), 0U);
    }
}

TYPED_TEST(Scattering, OfLittleIsJoinedOnTheHost) {
    this->have({true, true});
    const auto x = this->domain(5000, true);
    this->scatter_everywhere(x, 100);
    this->expect_right(x);
    EXPECT_EQ(this->requests(FakeRequest::take_changes), 0U);
}

TYPED_TEST(Scattering, IsJoinedOnTheHostWhereADeviceHasNoRoomForPieces) {
    this->have({true, true}, this->large + (1 << 20));
    const auto x = this->domain(this->large, true);
    this->scatter_everywhere(x);
    this->expect_right(x);
    EXPECT_EQ(this->requests(FakeRequest::take_changes), 0U);
}

TYPED_TEST(Scattering, IsJoinedOnTheHostWhereTheHostHasNoRoomForPieces) {
    this->have({true, true});
    const auto x = this->domain(this->large, true);
    this->scatter_everywhere(x);
    this->sites_.back()->device.fill_host();
    this->expect_right(x);
    EXPECT_EQ(this->requests(FakeRequest::take_changes), 0U);
}

TYPED_TEST(Scattering, OfTwoDevicesIntoOneElementIsAnErrorThatNamesTheFirst) {
    for (const bool are_all_linked : {true, false}) { // else those that differ are on both sides of the host
        this->have({true, true, are_all_linked});
        const auto x = this->domain(this->large, true);
        this->scatter_everywhere(x, 0);
        const std::uint64_t first = this->expected_.size() / 3, second = this->expected_.size() / 2;
        for (const std::uint64_t at : {second, first})
            for (const std::size_t number : {std::size_t{0}, std::size_t{2}}) {
                TypeParam changed = this->expected_[at];
                changed.back() += static_cast<typename TypeParam::value_type>(number + 1); // in the last word
                this->replica(x, *this->sites_[number])[at] = changed;
            }
        try {
            static_cast<void>(x.gather());
            FAIL() << "nothing was said";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("element " + std::to_string(first) + " of domain 'x'"),
                      std::string::npos)
                << error.what();
        }
        EXPECT_GT(this->requests(FakeRequest::take_changes), 0U);
    }
}

TYPED_TEST(Scattering, ThatFailedHalfwayIsAnError) {
    for (const FakeRequest fails : {FakeRequest::take_changes, FakeRequest::copy_out, FakeRequest::copy_in}) {
        this->have({true, true});
        const auto x = this->domain(this->large, true);
        this->scatter_everywhere(x);
        this->sites_.front()->device.fail_next(fails);
        EXPECT_THROW(static_cast<void>(x.gather()), Error);
        EXPECT_THROW(static_cast<void>(x.gather()), Error) << "some elements are joined";
    }
}

} // namespace
} // namespace headrace::test
