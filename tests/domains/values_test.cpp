// tests/domains/values_test.cpp - atomic operations, reductions and exact sums on every device of this
// machine.
#include "exact_reference.hpp"
#include "values.cl.hpp"
#include "values.kernels.hpp"

#include <devices/devices_fixture.hpp>
#include <persistent/drain.hpp>

#include <headrace/persistent/launcher.hpp>
#include <headrace/persistent/opencl/opencl_kernel.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <vector>

namespace headrace::test {
namespace {

constexpr std::uint64_t indices = 40000, cells = ValueTable::cells;

class ValuesOnDevice : public OnDevices {
protected:
    void SetUp() override {
        OnDevices::SetUp();
        if (devices_.empty()) return; // skipped
        const auto stream = device().make_stream(Timing::all);
        const auto memory = device().allocate(sizeof(ValueTable));
        stream->copy_in(*memory, 0, &table_, sizeof table_, {}).wait();
        Engine engine(device(), *stream, bind(*memory));
        drain(engine, 0, indices);
        stream->copy_out(&table_, *memory, 0, sizeof table_).wait();
    }
    std::unique_ptr<BoundKernel> bind(const Memory& memory) {
        const auto& technology = device().info().technology;
        if (technology == "opencl")
            return bind_opencl({.name = "values", .source = std::string(embedded::values_cl)},
                               std::move(OpenClArguments().buffer(memory)));
        const Launcher launcher = compiled_for<EngineKernel<Values, Indices>>(technology);
        const Values kernel{static_cast<ValueTable*>(memory.address())};
        const Indices seeds;
        return launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds);
    }

    /// Of numbers with the rules of `atomic_min` and `atomic_max`, one after the other.
    template <class T>
    static bool is_before(T a, T b) {
        if constexpr (std::is_floating_point_v<T>)
            return a < b || (a == b && std::signbit(a) && !std::signbit(b));
        else
            return a < b;
    }
    /// Rounding is left out: all amounts are such that there is none.
    template <class T>
    static void expect_right(const Slots<T> (&slots)[cells]) {
        for (std::uint64_t cell = 0; cell < cells; ++cell) {
            Slots<T> expected;
            T count = 0;
            for (std::uint64_t i = cell; i < indices; i += cells) {
                const std::uint64_t word = word_of(i);
                atomic_add(expected.sum, added<T>(word)); // wraps around
                count += 1;
                const T value = compared<T>(word);
                if (value != value) continue;
                if (is_before(value, expected.least)) expected.least = value;
                if (is_before(expected.greatest, value)) expected.greatest = value;
            }
            const Slots<T>& found = slots[cell];
            EXPECT_EQ(found.sum, expected.sum);
            EXPECT_EQ(found.least, expected.least);
            EXPECT_EQ(found.greatest, expected.greatest);
            EXPECT_EQ(found.reduced_least, expected.least);
            EXPECT_EQ(found.reduced_greatest, expected.greatest);
            EXPECT_EQ(found.count, count);
            T passed = found.passed;
            atomic_add(passed, found.held);
            EXPECT_EQ(passed, expected.sum);
        }
    }
    template <class T>
    static void expect_right(const Bits<T> (&bits)[cells]) {
        for (std::uint64_t cell = 0; cell < cells; ++cell) {
            Bits<T> expected;
            for (std::uint64_t i = cell; i < indices; i += cells) {
                const std::uint64_t word = word_of(i);
                const T one = static_cast<T>(T{1} << word % (8 * sizeof(T) - 1));
                expected.all &= ~one;
                expected.any |= one;
                expected.odd ^= static_cast<T>(word);
            }
            EXPECT_EQ(bits[cell].all, expected.all);
            EXPECT_EQ(bits[cell].any, expected.any);
            EXPECT_EQ(bits[cell].odd, expected.odd);
            EXPECT_EQ(bits[cell].reduced_all, expected.all);
            EXPECT_EQ(bits[cell].reduced_any, expected.any);
            EXPECT_EQ(bits[cell].reduced_odd, expected.odd);
        }
    }
    template <class T, class Range>
    static void expect_exact(const std::uint64_t* planes, auto&& term_of) {
        std::vector<ExactSum<T, Range>> sums(cells);
        add_planes(std::span(sums), planes, cells);
        for (std::uint64_t cell = 0; cell < cells; ++cell) {
            ReferenceSum<T> expected;
            for (std::uint64_t i = cell; i < indices; i += cells) expected.add(term_of(i));
            EXPECT_TRUE(std::isfinite(expected.value()) && expected.value() != 0);
            EXPECT_EQ(sums[cell].value(), expected.value());
            EXPECT_FALSE(sums[cell].exceeds_range());
        }
    }

    ValueTable table_;
};

TEST_P(ValuesOnDevice, AtomicOperationsAndReductionsAreRight) {
    expect_right(table_.longs);
    expect_right(table_.ulongs);
    expect_right(table_.doubles);
    expect_right(table_.ints);
    expect_right(table_.uints);
    expect_right(table_.floats);
    expect_right(table_.long_bits);
    expect_right(table_.uint_bits);
    const bool has_halves = device().info().technology != "opencl";
    for (std::uint64_t cell = 0; cell < cells; ++cell) {
        Hit nearest = Nearest::identity();
        for (std::uint64_t i = cell; i < indices; i += cells)
            nearest = Nearest{}(nearest, Values::hit(word_of(i)));
        EXPECT_EQ(table_.nearest[cell], nearest);
        EXPECT_EQ(table_.any_of_halves[cell], !has_halves ? 0 : cell % 2 != 0 ? 0xff0f : 0x0fff);
    }
}

TEST_P(ValuesOnDevice, ExactSumsAreRight) {
    using Range = ValueTable::DeclaredRange;
    expect_exact<double, FullRange>(table_.exact_doubles, [](auto i) { return term<double>(i, word_of(i)); });
    expect_exact<float, FullRange>(table_.exact_floats, [](auto i) { return term<float>(i, word_of(i)); });
    expect_exact<double, Range>(table_.declared_doubles,
                                [](auto i) { return declared_term<double>(word_of(i)); });
    expect_exact<float, Range>(table_.declared_floats,
                               [](auto i) { return declared_term<float>(word_of(i)); });
}

INSTANTIATE_TEST_SUITE_P(Devices, ValuesOnDevice, every_device(), test_name);

} // namespace
} // namespace headrace::test
