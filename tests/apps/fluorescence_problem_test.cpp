// The files that say what is to be simulated: MCML's and TOML, right and wrong.
#include "problem.hpp"
#include <headrace/core/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

namespace fluorescence {
namespace {

using headrace::Error;
using ::testing::HasSubstr;

const std::string mci = "# a remark\n1.0\n\n2 # runs\none.mco A\n1000\n0.01 0.02\n10 20 30\n2\n1.0\n"
                        "1.37 1 100 .9 .1 # epidermis\n1.4\t0 0 0 0.2\r\n1.5\n"
                        "two.mco B\n7\n1e-2 1\n1 1 1\n1\n1\n1 0 1 -1 1e8\n1";

TEST(Mci, ReadsEveryRunAsMcmlDoes) {
    const auto problems = parse_mci(mci, "skin.mci");
    ASSERT_EQ(problems.size(), 2u);
    const Problem& one = problems[0];
    EXPECT_EQ(one.name, "one.mco");
    EXPECT_EQ(one.photons, 1000u);
    EXPECT_EQ(one.grid.dz, 0.01);
    EXPECT_EQ(one.grid.dr, 0.02);
    EXPECT_EQ(one.grid.nz, 10);
    EXPECT_EQ(one.grid.nr, 20);
    EXPECT_EQ(one.grid.na, 30);
    ASSERT_EQ(one.layers.size(), 2u);
    EXPECT_EQ(one.layers[0].excitation.mus, 100);
    EXPECT_EQ(one.layers[0].excitation.g, 0.9);
    EXPECT_EQ(one.layers[1].n, 1.4);
    EXPECT_EQ(one.layers[1].thickness, 0.2);
    EXPECT_EQ(one.n_below, 1.5);
    EXPECT_EQ(problems[1].layers[0].excitation.g, -1);
    EXPECT_EQ(problems[1].layers[0].thickness, 1e8);
}

// As scripts write numbers, and as MCML's scanf takes them.
TEST(Mci, TakesMcmlsLiberties) {
    const std::string plain =
        "1.0\n1\na.mco A\n10000\n0.01 0.01\n10 10 1\n2\n1\n1.4 1 10 0.8 0.5\n1.4 1 10 .8 1\n1\n";
    const auto reads = [&](const std::string& what, const std::string& instead) {
        std::string text = plain;
        text.replace(text.find(what), what.size(), instead);
        SCOPED_TRACE(instead);
        Problem problem = parse_mci(text, "a.mci").front();
        EXPECT_EQ(problem.name, "a.mco");
        EXPECT_EQ(problem.photons, 10'000u);
        EXPECT_EQ(problem.grid.nr, 10);
        EXPECT_EQ(problem.layers.size(), 2u);
        EXPECT_EQ(problem.layers[1].thickness, 1);
        return problem;
    };
    for (const char* version : {"1", "1.00", "1.2 # of the file", "Version_1.0",
                                "\xef\xbb\xbf"
                                "1.0"})
        reads("1.0", version);
    for (const char* photons : {"1E4", "10000.0", "+10000", "1e+4", "0.1e5"}) reads("10000", photons);
    reads("10 10 1", "10.0 1e1 +1");
    EXPECT_EQ(reads("1 10 0.8", "+1.0 10 0.8").layers[0].excitation.mua, 1);
    EXPECT_EQ(reads("0.5\n", "0\n").layers[0].thickness, 0);
    EXPECT_EQ(reads("0.5\n", "inf\n").layers[0].thickness, std::numeric_limits<double>::infinity());
    EXPECT_EQ(reads("0.5\n", "INF\n").layers[0].thickness, std::numeric_limits<double>::infinity());
    EXPECT_EQ(reads("1.4 1", "0.99999 1").layers[0].n, 0.99999);
    std::string old = plain;
    std::ranges::replace(old, '\n', '\r');
    EXPECT_EQ(parse_mci(old, "old.mci").front().layers.size(), 2u);
}

void expect_refusal(const std::string& text, std::initializer_list<const char*> words,
                    const std::string& where) {
    SCOPED_TRACE(text);
    try {
        if (where.ends_with(".toml"))
            static_cast<void>(parse_toml(text, where));
        else
            static_cast<void>(parse_mci(text, where));
        ADD_FAILURE() << "was taken";
    } catch (const Error& error) {
        EXPECT_TRUE(error.is_users_mistake());
        EXPECT_THAT(error.message(), HasSubstr(where + ": line "));
        for (const char* word : words) EXPECT_THAT(error.message(), HasSubstr(word));
    }
}

std::string with(std::string text, const std::string& what, const std::string& instead) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), instead);
}

TEST(Mci, SaysWhichLineAndFieldIsWrong) {
    const auto refuses = [](const std::string& what, const std::string& instead,
                            std::initializer_list<const char*> words) {
        expect_refusal(with(mci, what, instead), words, "skin.mci");
    };
    refuses("1.0\n\n2", "2.0\n\n2", {"line 2", "version '2.0'", "MCML 2"});
    refuses("1.0\n\n2", "mcmli2.0\n\n2", {"line 2", "version 'mcmli2.0'", "MCML 2"});
    refuses("1.0\n\n2", "A1\n\n2", {"line 2", "a result of MCML's"});
    refuses("2 # runs", "0", {"line 4", "number of runs"});
    refuses("\n1000\n", "\n-5\n", {"line 6", "photons '-5'"});
    refuses("\n1000\n", "\n12x\n", {"line 6", "photons '12x'"});
    for (const char* photons : {"1000.5", "1e99", "inf", "+-5", "-1e3", "0"})
        refuses("\n1000\n", std::string("\n") + photons + "\n",
                {"line 6", "photons '", "is no whole number"});
    refuses("\n1000\n", "\n1\x1b[31mX\n", {"line 6", "photons '1[31mX'"}); // control characters are dropped
    refuses("0.01 0.02", "0.01", {"line 7", "dz dr"});
    refuses("0.01 0.02", "0 0.02", {"line 7", "dz '0'"});
    refuses("10 20 30", "10 0 30", {"line 8", "number of dr"});
    refuses(".9 .1", "1.5 .1", {"line 11", "g '1.5'"});
    refuses(".9 .1", "nan .1", {"line 11", "g 'nan'"});
    refuses("0 0 0 0.2", "0 0 0 -1", {"line 12", "d '-1'"});
    refuses("1.37 1 100", "0 1 100", {"line 11", "n '0'"});
    expect_refusal("\xff\xfe"
                   "1\0",
                   {"UTF-16"}, "wide.mci");
    refuses("1.37 1 100 .9 .1", "1.37 1 100", {"line 11", "n mua mus g d"});
    expect_refusal("", {"ends before"}, "empty.mci");
    expect_refusal("1.0\n3\n", {"line 2", "ends before"}, "short.mci");
    for (std::size_t length = 0; length < mci.size() - 1; ++length) // whatever is missing, it is said
        EXPECT_THROW(static_cast<void>(parse_mci(mci.substr(0, length), "cut.mci")), Error) << length;
}

const std::string toml = "n_above = 1.2\nphotons = 5000\nseed = 9\n[grid]\ndz = 0.01\nnx = 12\n"
                         "[[layer]]\nn = 1.4\nmua = 3\nmus = 250.5\ng = 0.8\nd = 0.1\n"
                         "emission = { mua = 2.2, mus = 230, g = 0.7 }\n"
                         "fluorophore = { mua = 1.0, quantum_yield = 0.3 }\n"
                         "[[layer]]\nn = 1\nmua = 0\nmus = 0\nd = 1\n";

TEST(Toml, ReadsWhatAnMciFileCannotSay) {
    const Problem problem = parse_toml(toml, "skin.toml");
    EXPECT_EQ(problem.name, "skin");
    EXPECT_EQ(problem.n_above, 1.2);
    EXPECT_EQ(problem.photons, 5000u);
    EXPECT_EQ(problem.seed, 9u);
    EXPECT_EQ(problem.grid.dz, 0.01);
    EXPECT_EQ(problem.grid.nx, 12);
    EXPECT_FALSE(problem.grid.ny);
    ASSERT_EQ(problem.layers.size(), 2u);
    ASSERT_TRUE(problem.layers[0].emission);
    EXPECT_EQ(problem.layers[0].emission->mus, 230);
    EXPECT_EQ(problem.layers[0].emission->g, 0.7);
    EXPECT_EQ(problem.layers[0].fluorophore_mua, 1.0);
    EXPECT_EQ(problem.layers[0].quantum_yield, 0.3);
    EXPECT_FALSE(problem.layers[1].emission);
}

/// A layer whose keys from `g` on are these.
Problem with_phase(const std::string& keys, const std::string& where = "a.toml") {
    return parse_toml("[[layer]]\nn = 1\nmua = 1\nmus = 2\nd = 1\n" + keys, where);
}

TEST(Toml, ReadsPhaseFunctions) {
    const auto phase = [](const std::string& keys) { return with_phase(keys).layers[0].excitation.phase; };
    EXPECT_EQ(phase("g = 0.5").kind, PhaseKind::henyey_greenstein);
    EXPECT_EQ(phase("g = 0.5\nphase = 'henyey-greenstein'").kind, PhaseKind::henyey_greenstein);
    EXPECT_EQ(phase("phase = 'rayleigh'").kind, PhaseKind::rayleigh);
    EXPECT_EQ(phase("phase = { kind = 'rayleigh' }").kind, PhaseKind::rayleigh);
    const Phase modified = phase("g = 0.9\nphase = { kind = 'modified-henyey-greenstein', part = 0.8 }");
    EXPECT_EQ(modified.kind, PhaseKind::modified_henyey_greenstein);
    EXPECT_EQ(modified.part, 0.8);

    const Problem plain = with_phase("g = 0.9\nemission = { mua = 1, mus = 1 }");
    EXPECT_EQ(plain.layers[0].emission->g, 0.9) << "as the layer";

    const auto folder = std::filesystem::path(testing::TempDir()) / "headrace_phase_tables";
    std::filesystem::create_directories(folder / "below");
    std::ofstream(folder / "below/p.csv") << "cos_theta,p\n-1,1\n1,2\n";
    const Problem tabulated = with_phase("phase = { kind = 'tabulated', file = 'below/p.csv' }\n"
                                         "emission = { mua = 1, mus = 1 }",
                                         folder / "a.toml");
    ASSERT_EQ(tabulated.layers[0].excitation.phase.table.size(), 2u);
    EXPECT_EQ(tabulated.layers[0].excitation.phase.table[1].density, 2);
    EXPECT_EQ(tabulated.layers[0].emission->phase.kind, PhaseKind::tabulated); // as the layer
    const auto refuses = [&](const std::string& file, const char* why) {
        try {
            static_cast<void>(
                with_phase("phase = { kind = 'tabulated', file = '" + file + "' }", folder / "below/a.toml"));
            ADD_FAILURE() << file << " was taken";
        } catch (const Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            EXPECT_THAT(error.message(), HasSubstr(why)) << file;
        }
    };
    std::ofstream(folder / "outside.csv") << "-1,1\n1,2\n";
    std::ofstream(folder / "below/wrong.csv") << "-1,1\n1,x\n";
    refuses("../outside.csv", "not below the folder");
    refuses(folder / "below/p.csv", "not below the folder");
    refuses("/dev/zero", "not below the folder");
    refuses("none.csv", "cannot be read");
    refuses(".", "not below the folder");
    refuses("wrong.csv", "line 2: 'x' is no number");
    std::filesystem::remove_all(folder);
}

TEST(Toml, RefusesPhaseFunctionsThatContradict) {
    const std::string begin = "[[layer]]\nn = 1\nmua = 1\nmus = 2\nd = 1\n";
    const auto refuses = [&](const std::string& keys, std::initializer_list<const char*> words) {
        expect_refusal(begin + keys, words, "a.toml");
    };
    refuses("phase = 'mie'", {"line 6", "is one of henyey-greenstein"});
    refuses("phase = 3", {"line 6", "is one of henyey-greenstein"});
    refuses("phase = { part = 1 }", {"\"kind\" is missing"});
    refuses("phase = { kind = 'rayleigh', part = 1 }", {"\"part\" means nothing here"});
    refuses("g = 0.5\nphase = 'rayleigh'", {"line 6", "\"g\"", "mean cosine of its own"});
    refuses("phase = 'modified-henyey-greenstein'", {"line 6", "part"});
    refuses("g = 0.5\nphase = { kind = 'modified-henyey-greenstein', part = 2 }", {"line 7", "\"part\""});
    refuses("phase = { kind = 'modified-henyey-greenstein', part = 0.5 }", {"\"g\" is missing"});
    refuses("phase = 'tabulated'", {"line 6", "file"});
    refuses("phase = { kind = 'tabulated', file = 3 }", {"line 6", "\"file\""});
    refuses("emission = { mua = 1, mus = 1, g = 0.1, phase = 'rayleigh' }", {"\"g\"", "of its own"});
}

// Each layer that names a table takes memory for it, at both wavelengths.
TEST(Toml, RefusesTablesThatWouldFillTheMemory) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "headrace_large_tables";
    std::filesystem::create_directories(folder);
    {
        std::ofstream file(folder / "p.csv");
        for (int i = 0; i <= 500'000; ++i) file << i * 4e-6 - 1 << ",1\n";
    }
    const auto parse = [&](std::size_t layers) {
        std::string text;
        for (std::size_t i = 0; i < layers; ++i)
            text += "[[layer]]\nn = 1\nmua = 1\nmus = 2\nd = 1\n"
                    "phase = { kind = 'tabulated', file = 'p.csv' }\n";
        return parse_toml(text, folder / "a.toml");
    };
    EXPECT_EQ(parse(4).layers[3].excitation.phase.table.size(), 500'001u);
    try {
        static_cast<void>(parse(5));
        ADD_FAILURE() << "was taken";
    } catch (const Error& error) {
        EXPECT_TRUE(error.is_users_mistake());
        EXPECT_THAT(error.message(), HasSubstr("line 25: the tables of all layers"));
    }
    std::filesystem::remove_all(folder);
}

TEST(Toml, ReadsSources) {
    const std::string layers = "[[layer]]\nn = 1.4\nmua = 1\nmus = 2\nd = 1\n[source]\n";
    const auto source = [&](const std::string& keys) { return parse_toml(layers + keys, "a.toml").source; };
    EXPECT_EQ(parse_toml(toml, "a.toml").source.kind, SourceKind::pencil);
    EXPECT_EQ(source("kind = 'pencil'").kind, SourceKind::pencil);
    EXPECT_EQ(source("kind = 'gaussian'\nradius = 0.5").radius, 0.5);
    EXPECT_EQ(source("kind = 'disc'\nradius = 1").kind, SourceKind::disc);
    EXPECT_EQ(source("kind = 'isotropic'\ndepth = 0.7").depth, 0.7);
    EXPECT_EQ(source("kind = 'oblique'\nangle = 30").angle, 30);
    const SourceSpec fibre = source("kind = 'fibre'\nradius = 0.01\nnumerical_aperture = 0.22\ndepth = 0.2");
    EXPECT_EQ(fibre.kind, SourceKind::fibre);
    EXPECT_EQ(fibre.numerical_aperture, 0.22);
    EXPECT_EQ(fibre.depth, 0.2);
    const auto refuses = [&](const std::string& keys, std::initializer_list<const char*> words) {
        expect_refusal(layers + keys, words, "a.toml");
    };
    refuses("radius = 1", {"\"kind\" is missing"});
    refuses("kind = 'laser'", {"line 7", "one of pencil"});
    refuses("kind = 'pencil'\nradius = 1", {"line 8", "\"radius\" means nothing here"});
    refuses("kind = 'gaussian'", {"\"radius\" is missing"});
    refuses("kind = 'gaussian'\nradius = -1", {"line 8", "\"radius\""});
    refuses("kind = 'disc'\nradius = 1\nangle = 3", {"line 9", "\"angle\" means nothing here"});
    refuses("kind = 'oblique'\nangle = 90", {"line 8", "\"angle\""});
    refuses("kind = 'oblique'\nangle = 30\ndepth = 0.1", {"line 9", "\"depth\""});
    refuses("kind = 'isotropic'\ndepth = 1", {"source: depth must be within the layers"});
    refuses("kind = 'isotropic'\nradius = 1", {"line 8", "\"radius\""});
    refuses("kind = 'fibre'\nradius = 1", {"\"numerical_aperture\" is missing"});
    refuses("kind = 'fibre'\nradius = 1\nnumerical_aperture = 1.1", {"numerical_aperture must be at most n"});
    EXPECT_NO_THROW(source("kind = 'fibre'\nradius = 1\nnumerical_aperture = 1.1\ndepth = 0.1"));
    refuses("kind = 'oblique'\nangle = nan", {"line 8", "\"angle\""});
}

TEST(Toml, ReadsDetectorsAndGates) {
    const std::string layer = "[[layer]]\nn = 1.4\nmua = 1\nmus = 2\nd = 1\n";
    const Problem problem = parse_toml(layer + "[[detector]]\nposition = [0.5, -1]\nradius = 0.1\n"
                                               "numerical_aperture = 0.22\n[[detector]]\nposition = 2\n"
                                               "radius = 1\nside = 'below'\n[time]\nstep = 10\ngates = 50\n",
                                       "a.toml");
    ASSERT_EQ(problem.detectors.size(), 2u);
    EXPECT_EQ(problem.detectors[0].x, 0.5);
    EXPECT_EQ(problem.detectors[0].y, -1);
    EXPECT_EQ(problem.detectors[0].numerical_aperture, 0.22);
    EXPECT_FALSE(problem.detectors[0].is_below);
    EXPECT_EQ(problem.detectors[1].x, 2);
    EXPECT_EQ(problem.detectors[1].numerical_aperture, std::numeric_limits<double>::infinity());
    EXPECT_TRUE(problem.detectors[1].is_below);
    EXPECT_EQ(problem.time.step, 10);
    EXPECT_EQ(problem.time.gates, 50u);
    const auto refuses = [&](const std::string& text, std::initializer_list<const char*> words) {
        expect_refusal(layer + text, words, "a.toml");
    };
    refuses("[[detector]]\nradius = 1", {"\"position\" is missing"});
    refuses("[[detector]]\nposition = [1, 2, 3]\nradius = 1", {"line 7", "\"position\""});
    refuses("[[detector]]\nposition = ['a', 2]\nradius = 1", {"line 7", "\"position\""});
    refuses("[[detector]]\nposition = 1", {"\"radius\" is missing"});
    refuses("[[detector]]\nposition = 1\nradius = 0", {"\"radius\""});
    refuses("[[detector]]\nposition = 1\nradius = 1\nside = 'left'", {"line 9", "above or below"});
    refuses("[[detector]]\nposition = 1\nradius = 1\nangle = 3", {"line 9", "\"angle\""});
    refuses("[detector]\nposition = 1\nradius = 1", {"[[detector]]"});
    refuses("[time]\nstep = 1", {"\"gates\" is missing"});
    refuses("[time]\ngates = 1", {"\"step\" is missing"});
    refuses("[time]\nstep = 0\ngates = 1", {"line 7", "\"step\""});
    refuses("[time]\nstep = 1\ngates = 0", {"line 8", "\"gates\""});
    std::string many;
    for (int i = 0; i < 17; ++i) many += layer;
    expect_refusal(many + "[[detector]]\nposition = 1\nradius = 1", {"at most 16 layers"}, "a.toml");
}

TEST(Toml, SaysWhichLineAndKeyIsWrong) {
    const auto refuses = [](const std::string& what, const std::string& instead,
                            std::initializer_list<const char*> words) {
        expect_refusal(with(toml, what, instead), words, "skin.toml");
    };
    refuses("photons = 5000", "photons = 0", {"line 2", "\"photons\""});
    refuses("photons = 5000", "photons = \"many\"", {"line 2", "\"photons\""});
    refuses("photons", "photon", {"line 2", "\"photon\"", "known are"});
    refuses("g = 0.8\n", "g = 1.8\n", {"line 11", "\"g\""});
    refuses("d = 0.1\n", "", {"line 7", "\"d\" is missing"});
    refuses("d = 0.1\n", "d = -1\n", {"line 12", "\"d\""});
    refuses("mua = 1.0", "mua = 4.0", {"line 7", "fluorophore: mua"});
    refuses("quantum_yield = 0.3", "quantum_yield = 1.3", {"line 14", "\"quantum_yield\""});
    refuses("emission = {", "emission = 3 #", {"line 13", "\"emission\": must be a table"});
    refuses("nx = 12", "nx = 1.5", {"line 6", "\"nx\""});
    refuses("[grid]", "[grid", {"line 4"});
    expect_refusal("photons = 1\n", {"no layers"}, "none.toml");
    expect_refusal("layer = 3\n", {"no layers"}, "none.toml");
}

TEST(ProblemFile, ThatIsNotThereIsNamed) {
    try {
        static_cast<void>(read_problems("/nowhere/skin.mci"));
        ADD_FAILURE() << "was read";
    } catch (const Error& error) {
        EXPECT_THAT(error.message(), HasSubstr("/nowhere/skin.mci: there is no such file"));
    }
}

} // namespace
} // namespace fluorescence
