// tests/domains/grids/roles_test.cpp - what must not compile, said to the compiler: this unit compiles, or a
// promise is broken. What the user is told is in wrong_roles/.
#include "grid.kernels.hpp"

#include <headrace/domains/grids/launch.hpp>

#include <gtest/gtest.h>

namespace headrace::test {
namespace {

using Bytes8 = Array<std::uint8_t>;
using Floats = Array<float>;

// What a kernel may do with its data.
template <class Role>
concept Reads = requires(Role role, float x) {
    x = role(0);
};
template <class Role>
concept Assigns = requires(Role role, Index<1> at) {
    role(0) = 1.0f;
    role[at] = 1.0f;
};
template <class Role>
concept Adds = requires(Role role) {
    role(0) += 1.0f;
};

template <class Target, class Source>
concept Copies = requires(Target target, Source source) {
    target(0) = source(0);
};

static_assert(Reads<In<float>> && !Assigns<In<float>> && !Adds<In<float>>);
static_assert(!Reads<Write<float>> && Assigns<Write<float>> && !Adds<Write<float>>);
static_assert(!Reads<Out<float>> && Assigns<Out<float>> && !Adds<Out<float>>);
static_assert(Reads<Io<float>> && Assigns<Io<float>> && Adds<Io<float>>);
// Not even by way of another element.
static_assert(!Copies<Write<float>, Write<float>> && !Copies<Out<float>, Write<float>>);
static_assert(Copies<Write<float>, In<float>> && Copies<Io<float>, Io<float>>);

// Which arrays stand for which roles.
static_assert(LaunchableOn<Blur, 2, Bytes8&, Bytes8&>);
static_assert(LaunchableOn<Blur, 2, const Bytes8&, Bytes8&>);
static_assert(LaunchableOn<Blur, 2, const Bytes8&, Part<std::uint8_t>>);
static_assert(!LaunchableOn<Blur, 2, Bytes8&, const Bytes8&>, "a const array is not written");
static_assert(!LaunchableOn<Blur, 2, Bytes8&, Part<const std::uint8_t>>, "nor a part of one");
static_assert(!LaunchableOn<Blur, 2, Floats&, Bytes8&>, "another element type");
static_assert(!LaunchableOn<Blur, 2, Bytes8&>, "one too few");
static_assert(!LaunchableOn<Blur, 2, Bytes8&, Bytes8&, int>, "one too many");
static_assert(!LaunchableOn<Blur, 2, Bytes8&, int>, "a number for an array");
static_assert(!LaunchableOn<Blur, 1, Bytes8&, Bytes8&> && !LaunchableOn<Blur, 3, Bytes8&, Bytes8&>,
              "a grid of another number of dimensions");

static_assert(LaunchableOn<Odd, 1, Floats&, float>);
static_assert(!LaunchableOn<Odd, 1, Floats&>, "a number too few would be zero in silence");
static_assert(!LaunchableOn<Odd, 1, Floats&, double&>, "narrowed");
static_assert(!LaunchableOn<Odd, 1, Floats&, Floats&>, "an array for a number");
static_assert(!LaunchableOn<AddTo, 1, Floats&, const Floats&> &&
              LaunchableOn<AddTo, 1, const Floats&, Floats&>);

// A kernel is plain data.
struct WithPointer {
    In<float> in;
    std::shared_ptr<int> state;
    HEADRACE_KERNEL void operator()(Index<1>) const {}
};
static_assert(!LaunchableOn<WithPointer, 1, Floats&, std::shared_ptr<int>>);

// Host tasks.
constexpr auto copies = [](In<float>, Write<float>) {};
static_assert(TaskOn<decltype(copies), const Floats&, Floats&>);
static_assert(!TaskOn<decltype(copies), Floats&, const Floats&>);
static_assert(!TaskOn<decltype(copies), Floats&>);
static_assert(!TaskOn<decltype(copies), Bytes8&, Floats&>);
constexpr auto by_reference = [](In<float>&) {};
static_assert(!TaskOn<decltype(by_reference), Floats&>);

TEST(Roles, SayTheirAccess) {
    EXPECT_EQ(In<int>::access, Access::read);
    EXPECT_EQ(Write<int>::access, Access::write);
    EXPECT_EQ(Out<int>::access, Access::update); // a part is written, so the rest must be there
    EXPECT_EQ(Io<int>::access, Access::update);
    EXPECT_EQ(type_name<Blur>(), "headrace::test::Blur");
}

} // namespace
} // namespace headrace::test
