// tests/domains/task_test.cpp - what a task says of a use that its job does not declare.
#include <core/fake_device.hpp>
#include <headrace/domains/task.hpp>

#include <gtest/gtest.h>

namespace headrace::test {
namespace {

#if !defined(HEADRACE_CHECK_BOUNDS)
// Bounds cost nothing where they are not checked.
static_assert(sizeof(View<float>) == sizeof(float*) + sizeof(Extent));
static_assert(sizeof(Scatter<float>) == sizeof(float*) + sizeof(Extent));
static_assert(sizeof(Sum<float>) == sizeof(float*) + sizeof(Extent) + sizeof(detail::LaneSlots));
static_assert(sizeof(Reduction<float, Min>) == sizeof(Sum<float>));
#endif

class Undeclared : public ::testing::Test {
protected:
    FakeDevice device_{{.id = "fake:0"}};
    Domain<float> mass_{"mass", {8}};
    Task task_{"walk [0, 8)", {0, 8}, device_};

    void declare(Access access) { task_.bind({mass_.data().get(), access, nullptr, nullptr, 0}); }

    template <class Use>
    void expect_said(Use use, const std::string& message) {
        try {
            static_cast<void>(use(task_, mass_));
            ADD_FAILURE() << "allowed: " << message;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            EXPECT_EQ(error.message(), message);
            EXPECT_EQ(error.task(), "walk [0, 8)");
        }
    }

    static constexpr auto read = [](const Task& t, const auto& d) { return t.read(d); };
    static constexpr auto write = [](const Task& t, const auto& d) { return t.write(d); };
    static constexpr auto update = [](const Task& t, const auto& d) { return t.update(d); };
    static constexpr auto sum = [](const Task& t, const auto& d) { return t.sum(d); };
    static constexpr auto scatter = [](const Task& t, const auto& d) { return t.scatter(d); };
    static constexpr auto memory = [](const Task& t, const auto& d) { return &t.memory(d); };
};

TEST_F(Undeclared, UseNamesWhatIsAskedForAndThatNothingIsDeclared) {
    expect_said(read, "the kernel asks for read() of the domain 'mass', of which its job declares nothing; "
                      "reads() or updates() would allow it");
    expect_said(memory,
                "the kernel asks for the memory of the domain 'mass', of which its job declares nothing");
}

TEST_F(Undeclared, UseNamesTheDeclarationsThatThereAre) {
    declare(Access::read);
    expect_said(write, "the kernel asks for write() of the domain 'mass', of which its job declares reads(); "
                       "writes() would allow it");
    expect_said(update,
                "the kernel asks for update() of the domain 'mass', of which its job declares reads(); "
                "updates() would allow it");
    declare(Access::write);
    expect_said(scatter,
                "the kernel asks for scatter() of the domain 'mass', of which its job declares reads() "
                "and writes(); scatters() would allow it");
    expect_said(sum, "the kernel asks for sum() of the domain 'mass', of which its job declares reads() and "
                     "writes(); accumulates() would allow it");
}

} // namespace
} // namespace headrace::test
