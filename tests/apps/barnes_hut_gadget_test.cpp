// GADGET's snapshots: those of an independent writer (h5py), and our own.
#include "gadget.hpp"
#include "own_process.hpp"
#include "read_bodies.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace barnes_hut::test {
namespace {

/// The files of gadget_snapshots.py.
class GadgetSnapshots : public testing::Test {
protected:
    void SetUp() override {
        constexpr int has_no_h5py = 77;
        int status = -1;
        for (const char* python : {"python3", "/usr/bin/python3"}) { // the system's has the system's packages
            const std::string command = std::string(python) + " " HEADRACE_GADGET_SNAPSHOTS " " +
                                        folder_.path().string() + " > /dev/null 2>&1";
            status = std::system(command.c_str()); // NOLINT(concurrency-mt-unsafe): nothing else runs
            if (status == 0) return;
        }
        if (WIFEXITED(status) && (WEXITSTATUS(status) == has_no_h5py || WEXITSTATUS(status) == 127))
            GTEST_SKIP() << "no python3 with h5py (Debian's python3-h5py) on this machine";
        FAIL() << "gadget_snapshots.py has failed: " << status;
    }

    [[nodiscard]] std::string refusal(const std::string& name) const {
        try {
            static_cast<void>(read_bodies(folder_.path() / name));
        } catch (const headrace::Error& error) {
            return error.message();
        }
        return "was read";
    }

    headrace::test::ScratchFolder folder_;
};

/// Body k of the script, in each of its files.
void expect_all(const Bodies& bodies, std::array<std::size_t, 6> counts, bool has_ids) {
    std::size_t k = 0;
    for (std::size_t type = 0; type < counts.size(); ++type)
        for (std::size_t i = 0; i < counts[type]; ++i, ++k) {
            ASSERT_LT(k, bodies.size());
            const auto x = static_cast<double>(k);
            ASSERT_EQ(bodies.places[k], (Vector{x, x + 0.25, x + 0.5}));
            ASSERT_EQ(bodies.velocities[k], (Vector{-x, 1 - x, 2 - x}));
            ASSERT_EQ(bodies.masses[k], 0.5 + x);
            ASSERT_EQ(bodies.types[k], type);
            if (has_ids) {
                ASSERT_EQ(bodies.ids[k], static_cast<std::uint64_t>(1000 - static_cast<std::int64_t>(k)));
            }
        }
    EXPECT_EQ(bodies.size(), k);
    EXPECT_EQ(bodies.places.size(), k);
    EXPECT_EQ(bodies.velocities.size(), k);
    EXPECT_EQ(bodies.types.size(), k);
    EXPECT_EQ(bodies.ids.size(), has_ids ? k : 0);
    EXPECT_EQ(bodies.time, 0.25);
}

TEST_F(GadgetSnapshots, AreReadInTheOrderOfTheirTypes) {
    const auto read = [&](const char* name) { return read_bodies(folder_.path() / name); };
    expect_all(read("floats.hdf5"), {2, 3, 0, 0, 1, 1}, true);
    expect_all(read("signature_alone"), {2, 3, 0, 0, 1, 1}, true);
    expect_all(read("packed.h5"), {0, 70000, 0, 0, 2, 0}, true);
    expect_all(read("few.hdf5"), {0, 3, 0, 0, 0, 0}, false);
    expect_all(read("table.hdf5"), {0, 1, 0, 0, 0, 2}, true);
    testing::internal::CaptureStderr();
    expect_all(read("noted.hdf5"), {2, 0, 0, 0, 0, 0}, true);
    const std::string note = testing::internal::GetCapturedStderr();
    for (const char* word : {"noted.hdf5: not used", "BoxSize", "cosmology", "gas (PartType0)"})
        EXPECT_NE(note.find(word), std::string::npos) << note;
}

TEST_F(GadgetSnapshots, ThatNameOtherFilesAreRefused) {
    for (const auto& [name, words] :
         {std::pair("external_link.hdf5", "PartType1 is a link to another file"),
          std::pair("external_data.hdf5", "PartType1/Masses is a link to another file"),
          std::pair("external_header.hdf5", "Header is a link to another file"),
          std::pair("soft_link.hdf5", "PartType1/Masses is a link"),
          std::pair("external_storage.hdf5", "PartType1/Masses is stored in other files"),
          std::pair("virtual.hdf5", "PartType1/Masses is stored in other files")}) {
        EXPECT_NE(refusal(name).find(std::string(name) + ": " + words), std::string::npos)
            << name << refusal(name);
    }
}

TEST_F(GadgetSnapshots, ThatAreBrokenAreRefused) {
    for (const auto& [name, words] :
         {std::pair("several.hdf5", "one of several files (NumFilesPerSnapshot)"),
          std::pair("no_header.hdf5", "has no Header"),
          std::pair("no_counts.hdf5", "has no NumPart_ThisFile"),
          std::pair("negative.hdf5", "NumPart_ThisFile is below 0"),
          std::pair("huge.hdf5", "more than the 2^28"),
          std::pair("more.hdf5", "PartType1/Coordinates does not have 4 x 3 numbers"),
          std::pair("none.hdf5", "has no bodies"),
          std::pair("seventh.hdf5", "particles of type 6"),
          std::pair("words.hdf5", "NumPart_ThisFile is no number"),
          std::pair("time.hdf5", "Time is no number"),
          std::pair("no_type.hdf5", "has no PartType4"),
          std::pair("no_masses.hdf5", "has no PartType4/Masses"),
          std::pair("flat.hdf5", "PartType1/Coordinates does not have 3 x 3 numbers"),
          std::pair("wide.hdf5", "PartType1/Velocities does not have 3 x 3 numbers"),
          std::pair("text.hdf5", "PartType1/Masses does not have numbers"),
          std::pair("group.hdf5", "PartType1/Masses is a link"),
          std::pair("nan.hdf5", "PartType1/Coordinates: row 2: must be finite"),
          std::pair("large.hdf5", "PartType1/Velocities: row 3: is beyond 1e100"),
          std::pair("mass.hdf5", "PartType4/Masses: row 2: a mass must not be negative"),
          std::pair("mass_table.hdf5", "PartType1/MassTable: row 1: a mass must not be negative"),
          std::pair("ids.hdf5", "PartType1/ParticleIDs does not have whole numbers"),
          std::pair("filter.hdf5", "PartType1/Masses is packed by filter 32000"),
          std::pair("promised.hdf5", "PartType1/Coordinates has fewer numbers than it says"),
          std::pair("chunk.hdf5", "PartType1/Masses has chunks beyond 64 MiB"),
          std::pair("cut.hdf5", "is no HDF5 file, or is cut off"),
          std::pair("no.hdf5", "is no HDF5 file"),
          std::pair("empty.hdf5", "is no HDF5 file"),
          std::pair("folder.hdf5", "it is a folder")}) {
        EXPECT_NE(refusal(name).find(std::string(name) + ": "), std::string::npos) << name << refusal(name);
        EXPECT_NE(refusal(name).find(words), std::string::npos) << name << refusal(name);
    }
}

/// HDF5 has crashed on one of a thousand files with some wrong bytes.
TEST(Gadget, NeitherACrashNorALoopOfItsLibraryIsOurs) {
    using namespace std::chrono_literals;
    const auto outcome = [](const std::function<void(std::FILE*)>& make) -> std::string {
        std::string got;
        try {
            in_own_process(
                make,
                [&](std::FILE* from) {
                    for (int letter = 0; (letter = std::fgetc(from)) != EOF;)
                        got += static_cast<char>(letter);
                },
                "broken", 1s);
        } catch (const headrace::Error& error) {
            return error.message();
        }
        return got;
    };
    EXPECT_EQ(outcome([](std::FILE* to) { std::fputs("all", to); }), "all");
    EXPECT_EQ(outcome([](std::FILE*) {
                  throw headrace::Error{headrace::ErrorKind::not_found, "why"};
              }),
              "why");
    EXPECT_EQ(outcome([](std::FILE*) { std::raise(SIGSEGV); }), "broken");
    EXPECT_EQ(outcome([](std::FILE* to) {
                  std::fputs("some", to);
                  std::fflush(to);
                  std::abort();
              }),
              "broken");
    EXPECT_EQ(outcome([](std::FILE*) {
                  for (volatile bool goes_on = true; goes_on;) {
                  }
              }),
              "broken");
}

TEST(Gadget, ComesBackToTheBit) {
    const headrace::test::ScratchFolder folder;
    const auto after = [&](const Bodies& bodies, double time) {
        return read_bodies(folder.write("out.hdf5", gadget_bytes(bodies, time)));
    };
    Bodies bodies = plummer_sphere(1000, 1);
    bodies.masses[7] = 0;
    Bodies found = after(bodies, 1.0 / 3);
    EXPECT_EQ(found.places, bodies.places);
    EXPECT_EQ(found.velocities, bodies.velocities);
    EXPECT_EQ(found.masses, bodies.masses);
    EXPECT_EQ(found.time, 1.0 / 3);
    EXPECT_EQ(found.types, std::vector<std::uint8_t>(1000, 1));
    EXPECT_EQ(found.ids.front(), 1u);
    EXPECT_EQ(found.ids.back(), 1000u);
    EXPECT_EQ(gadget_bytes(bodies, 1), gadget_bytes(bodies, 1));
    // Types and numbers stay.
    for (std::size_t i = 0; i < found.size(); ++i) {
        found.types[i] = static_cast<std::uint8_t>(i < 10 ? 0 : i < 500 ? 2 : 5);
        found.ids[i] = ~std::uint64_t{i};
    }
    const Bodies again = after(found, 2);
    EXPECT_EQ(again.types, found.types);
    EXPECT_EQ(again.ids, found.ids);
    EXPECT_EQ(again.places, found.places);
}

} // namespace
} // namespace barnes_hut::test
