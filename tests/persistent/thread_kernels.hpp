// tests/persistent/thread_kernels.hpp - the kernels that several tests run on host threads. Their group code
// is large, so it is compiled once for each width of lane groups (tests/persistent/CMakeLists.txt), and not
// by each test.
#pragma once
#include "bind_on_threads.hpp"
#include "walks.kernels.hpp"

/// Declares (`extern template`) or defines (`template`) their launchers for groups of so many lanes.
#define HEADRACE_THREAD_KERNELS(instantiate, width)                                                          \
    instantiate Launcher launcher_on_threads<BinaryTree, Roots, width>();                                    \
    instantiate Launcher launcher_on_threads<IrregularTree, Roots, width>();                                 \
    instantiate Launcher launcher_on_threads<IrregularTree, SparseRoots, width>();                           \
    instantiate Launcher launcher_on_threads<Chain, ChainStarts, width>();                                   \
    instantiate Launcher launcher_on_threads<Plant, Sprouts, width>();                                       \
    instantiate Launcher launcher_on_threads<Ferry, Quays, width>();                                         \
    instantiate Launcher launcher_on_threads<Fireworks, Fuses, width>();                                     \
    instantiate Launcher launcher_on_threads<Fireworks, Rockets, width>();                                   \
    instantiate Launcher launcher_on_threads<Conifer, Saplings, width>();                                    \
    instantiate Launcher launcher_on_threads<Visit, Indices, width>();                                       \
    instantiate Launcher launcher_on_threads<Tally, Indices, width>();                                       \
    instantiate Launcher launcher_on_threads<TallyChain, ChainStarts, width>();                              \
    instantiate Launcher launcher_on_threads<GroupTree, Roots, width>();                                     \
    instantiate Launcher launcher_on_threads<GroupPlant, Sprouts, width>();                                  \
    instantiate Launcher launcher_on_threads<GroupFireworks, Fuses, width>();                                \
    instantiate Launcher launcher_on_threads<GroupShare, Stretches, width>();                                \
    instantiate Launcher launcher_on_threads<GroupVisit, Indices, width>();                                  \
    instantiate Launcher launcher_on_threads<Liar, Roots, width>();                                          \
    instantiate Launcher launcher_on_threads<WalkTree, Roots, width>();                                      \
    instantiate Launcher launcher_on_threads<WalkChain, ChainStarts, width>();                               \
    instantiate Launcher launcher_on_threads<WalkPlant, Sprouts, width>();                                   \
    instantiate Launcher launcher_on_threads<WalkFireworks, Fuses, width>();                                 \
    instantiate Launcher launcher_on_threads<WalkConifer, Saplings, width>();                                \
    instantiate Launcher launcher_on_threads<WalkTally, ChainStarts, width>();                               \
    instantiate Launcher launcher_on_threads<GatherTree, Roots, width>();                                    \
    instantiate Launcher launcher_on_threads<GatherTree, SparseRoots, width>();                              \
    instantiate Launcher launcher_on_threads<GatherChain, ChainStarts, width>();                             \
    instantiate Launcher launcher_on_threads<GatherTally, ChainStarts, width>();                             \
    instantiate Launcher launcher_on_threads<GatherFireworks, Fuses, width>();                               \
    instantiate Launcher launcher_on_threads<GatherFireworks, Rockets, width>();

namespace headrace::test {

HEADRACE_THREAD_KERNELS(extern template, 1)
HEADRACE_THREAD_KERNELS(extern template, 3)
HEADRACE_THREAD_KERNELS(extern template, 16)
HEADRACE_THREAD_KERNELS(extern template, 64)

} // namespace headrace::test
