// tests/domains/cluster/mpi_module_test.cpp - when MPI is loaded, and what users read if it is missing.
#include <headrace/core/error.hpp>
#include <headrace/domains/cluster/session.hpp>
#include <headrace/internal/domains/cluster/mpi_module.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace headrace::test {
namespace {

using testing::Test;

/// Without the variables that count, whatever started this test.
class StartedByMpi : public Test {
protected:
    StartedByMpi() {
        for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
                                       "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"})
            unsetenv(name);
    }
    static void set(const char* name, const char* value) { setenv(name, value, 1); }
};

TEST_F(StartedByMpi, IsNoProcessThatAUserStarts) { EXPECT_FALSE(cluster::was_started_by_mpi()); }

TEST_F(StartedByMpi, IsOneOfSeveralProcesses) {
    for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
        set(name, "1");
        EXPECT_FALSE(cluster::was_started_by_mpi()) << name;
        set(name, "2");
        EXPECT_TRUE(cluster::was_started_by_mpi()) << name;
        set(name, "10000");
        EXPECT_TRUE(cluster::was_started_by_mpi()) << name;
        unsetenv(name);
    }
}

TEST_F(StartedByMpi, IsSaidByMpiBeforeSlurm) {
    set("SLURM_STEP_NUM_TASKS", "4"); // of the daemons of mpirun
    set("OMPI_COMM_WORLD_SIZE", "1");
    EXPECT_FALSE(cluster::was_started_by_mpi());
}

TEST_F(StartedByMpi, IsNotGuessedFromWhatIsNoNumber) {
    for (const char* const wrong : {"", "two", "2x", " 2", "-2", "+2", "0", "2.0", "99999999999999999999"}) {
        set("PMI_SIZE", wrong);
        try {
            static_cast<void>(cluster::was_started_by_mpi());
            ADD_FAILURE() << "accepts '" << wrong << "'";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            EXPECT_NE(error.message().find("PMI_SIZE='" + std::string(wrong) + "'"), std::string::npos)
                << error.message();
        }
    }
}

TEST_F(StartedByMpi, KnowsItsRankWithoutMpi) {
    EXPECT_EQ(cluster::rank_by_environment(), 0);
    set("SLURM_STEP_NUM_TASKS", "4"); // of the daemons of mpirun
    set("SLURM_PROCID", "3");
    EXPECT_EQ(cluster::rank_by_environment(), 3);
    set("OMPI_COMM_WORLD_SIZE", "2");
    EXPECT_THROW(static_cast<void>(cluster::rank_by_environment()), Error);
    set("OMPI_COMM_WORLD_RANK", "1");
    EXPECT_EQ(cluster::rank_by_environment(), 1);
    set("OMPI_COMM_WORLD_RANK", "-0");
    EXPECT_THROW(static_cast<void>(cluster::rank_by_environment()), Error);
}

TEST(MpiModule, IsTheFirstThatExists) {
    const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe");
    const std::array<std::filesystem::path, 3> candidates{"/nowhere/module.so", here, "/proc/self/exe"};
    EXPECT_EQ(cluster::find_mpi_module(candidates), here);
}

TEST(MpiModule, IsMissedWithAllPathsWhereItWasLookedFor) {
    const std::array<std::filesystem::path, 2> candidates{"/nowhere/module.so", "/elsewhere/module.so"};
    try {
        static_cast<void>(cluster::find_mpi_module(candidates));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::not_found);
        for (const auto& candidate : candidates)
            EXPECT_NE(error.message().find(candidate.string()), std::string::npos) << error.message();
    }
}

} // namespace
} // namespace headrace::test
