// apps/chain_matmul/chain.cpp - see chain.hpp.
#include "chain.hpp"
#include "matrices/multiply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace chain_matmul {

using controller_program::Machine;
using headrace::Controller;
using headrace::Device;
using headrace::In;
using headrace::Write;

namespace {

/// Controllers of as many devices as there are, in the devices' order.
std::array<Controller*, stages> place(Machine& machine, int controllers) {
    const int devices = std::min(static_cast<int>(machine.device_count()), controllers);
    std::array<Controller*, stages> placed{};
    for (int stage = 0; stage < stages; ++stage) {
        const int mine = stage * controllers / stages, device = mine * devices / controllers;
        const int first = (device * controllers + devices - 1) / devices; // of the same device
        placed[static_cast<std::size_t>(stage)] =
            &machine.controller(static_cast<std::size_t>(device) +
                                static_cast<std::size_t>(mine - first) * machine.device_count());
    }
    return placed;
}

} // namespace

Chain::Chain(Machine& machine, Problem problem, int controllers, matrices::HostThreads& threads)
    : machine_(machine),
      problem_(std::move(problem)),
      threads_(threads),
      sizes_(problem_.size, problem_.size),
      stages_(place(machine, controllers)),
      sets_(machine.is_asynchronous() ? 2 : 1),
      normalised_("normalised B", sizes_) {
    for (std::size_t stage = 0; stage < stages; ++stage) {
        Matrix& constant =
            constants_.emplace_back(fmt::format("C{}", stage + 1), sizes_, stages_[stage]->device());
        make(constant.fill(), problem_.constants, stage, 0);
    }
    for (auto& set : sets_)
        for (int stage = 0; stage < stages + (machine.is_asynchronous() ? 1 : 0); ++stage) add(set, stage);

    std::vector<headrace::StreamPiece> pieces;
    for (std::size_t stage = 0; stage < stages; ++stage)
        pieces.push_back({fmt::format("matrices {0}x{0} by C{1}", problem_.size, stage + 1),
                          [this, stage](const headrace::StreamStep& step) {
                              auto& mine = set(step.item);
                              return matrices::multiply(step.controller, mine[stage], constants_[stage],
                                                        product(mine, stage));
                          }});
    // Under way at once: more than the stages work on, and few enough to forget.
    pipeline_.emplace(std::vector(stages_.begin(), stages_.end()), pieces, 4 * stages);
    pipeline_->map_one_to_one();
    pipeline_->time_parts();
}

void Chain::make(std::span<float> matrix, const std::vector<matrices::NpyFile>& files, std::size_t number,
                 std::uint64_t first_stream) {
    const int size = problem_.size;
    if (files.empty())
        matrices::fill_uniform(matrix, problem_.seed, first_stream + number, 2.0f / static_cast<float>(size),
                               threads_);
    else
        files[number % files.size()].read({size, size}, matrix);
}

void Chain::add(std::deque<Matrix>& set, int stage) {
    const std::string name = fmt::format("A after stage {}", stage);
    Device& before = stages_[static_cast<std::size_t>(std::max(stage - 1, 0))]->device();
    Device& after = stages_[static_cast<std::size_t>(std::min(stage, stages - 1))]->device();
    const bool passes_host = stage == 0 || stage == stages || !after.reaches(before);
    if (passes_host) // pinned for the one that copies: what works on the host's memory needs none
        set.emplace_back(name, sizes_, before.info().shares_host_memory ? after : before);
    else
        set.emplace_back(name, sizes_);
}

void Chain::submit(std::vector<matrices::Normalisation>& found) {
    const auto begin = [this](std::int64_t i, std::size_t) {
        return std::optional(host_task(
            machine_.lane("generate"),
            [this, i](Write<float> a) { make(a, problem_.stream, static_cast<std::size_t>(i), stages); },
            set(i)[0]));
    };
    const auto end = [&](std::int64_t i, std::size_t) {
        return host_task(
            machine_.lane("normalise"),
            [this, &mine = found[static_cast<std::size_t>(i)]](In<float> b, Write<float> normalised) {
                mine = matrices::normalise(b, normalised, threads_, "B");
            },
            product(set(i), stages - 1), normalised_);
    };
    pipeline_->run({begin, end}, std::ssize(found));
}

std::string Chain::devices() const {
    std::string names;
    for (const Controller* stage : stages_) names += (names.empty() ? "" : " ") + stage->device().info().id;
    return names;
}

} // namespace chain_matmul
