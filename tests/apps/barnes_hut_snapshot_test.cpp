// Snapshots: they come back to the bit, and what is wrong with one is said.
#include "snapshot.hpp"
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <sstream>

namespace barnes_hut::test {
namespace {

Snapshot some_snapshot() {
    Snapshot snapshot{7, {-0.1, 43007.1, 1e-300, 0.3, 0.0012, false, "producer"}, true, {}, {}, {}};
    snapshot.bodies = plummer_sphere(20, 1);
    snapshot.bodies.masses[3] = 0;
    for (std::size_t i = 0; i < snapshot.bodies.size(); ++i) {
        const auto x = static_cast<double>(i);
        snapshot.field.accelerations.push_back({x / 3, -x / 7, std::ldexp(x, -1060)});
        snapshot.field.potentials.push_back(-x / 9);
    }
    snapshot.history = {{0, 0.1, -0.3, {1, 2, 3}, {4, 5, 6}},
                        {7, 1.0 / 3, -HUGE_VAL, {-1, -2, -3}, {0, 0, 1e300}}};
    return snapshot;
}

Snapshot read(const std::string& bytes) {
    std::istringstream stream(bytes);
    return parse_snapshot(stream, "a.snapshot");
}

std::string refusal(const std::string& bytes) {
    try {
        static_cast<void>(read(bytes));
    } catch (const headrace::Error& error) {
        EXPECT_EQ(error.kind(), headrace::ErrorKind::invalid_argument);
        return error.message();
    }
    return "was read";
}

TEST(Snapshot, ComesBackToTheBit) {
    const Snapshot written = some_snapshot();
    const Snapshot found = read(bytes_of(written));
    EXPECT_EQ(found.step, 7u);
    EXPECT_TRUE(found.have_met);
    const Parameters &a = found.parameters, &b = written.parameters;
    EXPECT_EQ(std::tie(a.dt, a.gravity, a.softening, a.theta, a.accuracy, a.quadrupole, a.kernel),
              std::tie(b.dt, b.gravity, b.softening, b.theta, b.accuracy, b.quadrupole, b.kernel));
    EXPECT_EQ(found.bodies.places, written.bodies.places);
    EXPECT_EQ(found.bodies.velocities, written.bodies.velocities);
    EXPECT_EQ(found.bodies.masses, written.bodies.masses);
    EXPECT_EQ(found.field.accelerations, written.field.accelerations);
    EXPECT_EQ(found.field.potentials, written.field.potentials);
    ASSERT_EQ(found.history.size(), 2u);
    EXPECT_EQ(found.history[1].potential, -HUGE_VAL);
    EXPECT_EQ(found.history[1].angular_momentum, (Vector{0, 0, 1e300}));
    EXPECT_EQ(bytes_of(found), bytes_of(written));
}

TEST(Snapshot, ThatIsNotWholeIsRefused) {
    const std::string whole = bytes_of(some_snapshot());
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_NE(refusal(whole.substr(0, size)).find("a.snapshot: is"), std::string::npos) << size;
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const int bit : {1, 128}) {
            std::string wrong = whole;
            wrong[at] = static_cast<char>(wrong[at] ^ bit);
            EXPECT_NE(refusal(wrong).find("a.snapshot: is"), std::string::npos) << at;
        }
    EXPECT_NE(refusal(whole + "x").find("goes on behind its end"), std::string::npos);
    EXPECT_NE(refusal("x,y,z,m\n1,2,3,4\n").find("is no snapshot"), std::string::npos);
}

TEST(Snapshot, WithoutWholeNumbersIsRefused) {
    const std::string whole = bytes_of(some_snapshot());
    for (const std::string key : {"step", "bodies", "history"})
        for (const std::string number : {"1e300", "-1", "2.5", "true"}) {
            const std::string wrong =
                std::regex_replace(whole, std::regex('"' + key + "\":[0-9]+"), '"' + key + "\":" + number);
            EXPECT_NE(refusal(wrong).find('"' + key + "\" is no whole number"), std::string::npos) << wrong;
        }
}

TEST(Snapshot, OfWhatCannotBeIsRefused) {
    const auto with = [](auto&& change) {
        Snapshot snapshot = some_snapshot();
        change(snapshot);
        return refusal(bytes_of(snapshot));
    };
    EXPECT_NE(with([](Snapshot& s) { s.bodies.masses[4] = -1; }).find("body 5 cannot be"), std::string::npos);
    EXPECT_NE(with([](Snapshot& s) { s.bodies.places[0].y = std::nan(""); }).find("body 1"),
              std::string::npos);
    EXPECT_NE(with([](Snapshot& s) { s.field.potentials[19] = HUGE_VAL; }).find("body 20"),
              std::string::npos);
    EXPECT_NE(with([](Snapshot& s) { s.history[1].step = 8; }).find("energies"), std::string::npos);
    EXPECT_NE(with([](Snapshot& s) { s.history.clear(); }).find("is empty"), std::string::npos);
    EXPECT_NE(with([](Snapshot& s) {
                  s.bodies = {};
                  s.field = {};
              }).find("is empty"),
              std::string::npos);
}

} // namespace
} // namespace barnes_hut::test
