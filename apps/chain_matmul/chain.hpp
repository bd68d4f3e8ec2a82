// apps/chain_matmul/chain.hpp - matrices that arrive one after another and pass through four constant ones:
// B = A C1 C2 C3 C4.
#pragma once
#include "controller_program/machine.hpp"
#include "matrices/normalise.hpp"
#include "matrices/npy.hpp"
#include <headrace/domains/streams/pipeline.hpp>
#include <headrace/headrace.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace chain_matmul {

inline constexpr int stages = 4;

/// What there is to compute. Numbers that no file has are uniform in [0, 2 / size), so that products keep
/// their magnitude.
struct Problem {
    int size = 1024;
    std::uint64_t seed = 1;
    std::vector<matrices::NpyFile> constants{}; ///< one for each stage, or none
    std::vector<matrices::NpyFile> stream{};    ///< the matrices A, in turns, or none
};

/// Four stages, each of which multiplies by a constant of its own, on 1 to 4 controllers: a pipeline, in
/// which each works on another A. Controllers share devices where there are fewer; neighbours then do.
///
/// Two sets of matrices take turns, so that a stage writes one product while the next stage reads the last;
/// a synchronous machine has one, in which B lies where A was: the host finds both in its caches.
///
/// Source    S. Alonso Pascual, "Modelo de ejecución y sincronización en múltiples dispositivos
///           heterogéneos", master's thesis, A Coruña 2023, sec. 5.1
/// Lifetime  machine and threads outlive it
class Chain {
public:
    Chain(controller_program::Machine& machine, Problem problem, int controllers,
          matrices::HostThreads& threads);

    /// Makes or reads each A by a host task, multiplies, and normalises a copy of each B by another, which
    /// leaves what it found: one for each of `found`. Blocks.
    void submit(std::vector<matrices::Normalisation>& found);

    /// Of the last ones that were submitted.
    [[nodiscard]] headrace::StreamReport report() const { return pipeline_->report(); }
    /// B of the last one, normalised. Blocks.
    [[nodiscard]] std::span<const float> normalised() const { return normalised_.gather(); }
    /// The devices of the stages: "cuda:0 cuda:0 cuda:1 cuda:1".
    [[nodiscard]] std::string devices() const;

private:
    using Matrix = headrace::Array<float>;

    [[nodiscard]] std::deque<Matrix>& set(std::int64_t item) {
        return sets_[static_cast<std::size_t>(item) % sets_.size()];
    }
    /// Between two stages, or before the first, or after the last.
    void add(std::deque<Matrix>& set, int stage);
    [[nodiscard]] Matrix& product(std::deque<Matrix>& set, std::size_t stage) {
        return set[(stage + 1) % set.size()];
    }
    /// From one of the files, in turns, or of random numbers: of stream `first_stream` + `number`.
    void make(std::span<float> matrix, const std::vector<matrices::NpyFile>& files, std::size_t number,
              std::uint64_t first_stream);

    controller_program::Machine& machine_;
    const Problem problem_;
    matrices::HostThreads& threads_;
    const headrace::Sizes sizes_;
    std::array<headrace::Controller*, stages> stages_{};
    std::deque<Matrix> constants_;
    std::vector<std::deque<Matrix>> sets_; // [0] of each is A, the last or A again is B
    Matrix normalised_;
    std::optional<headrace::Pipeline> pipeline_;
};

} // namespace chain_matmul
