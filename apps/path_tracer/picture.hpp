// apps/path_tracer/picture.hpp - the picture on its way to a file.
#pragma once
#include "film_sums.hpp"
#include "options.hpp"
#include "render.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace path_tracer {

/// Writes the picture, as often as one likes. Borrows options and frame.
class Picture {
public:
    /// `first_hits`: see find_first_hits
    Picture(const Options& options, const Frame& frame, std::vector<FirstHit> first_hits)
        : options_(options), frame_(frame), first_hits_(std::move(first_hits)) {}

    /// Exposed, and with its tones. A pixel without samples is black.
    ///
    /// Shapes  sums and counts [height x width]: of samples
    /// Errors  those of program::write_whole
    void write(std::span<const RgbSum> sums, std::span<const uint32_t> counts) const;
    /// Whether there is a file, be it of a picture that grows.
    [[nodiscard]] bool was_written() const { return was_written_; }

private:
    const Options& options_;
    const Frame& frame_;
    std::vector<FirstHit> first_hits_;
    mutable bool was_written_ = false;
};

/// The layers of the picture, if its file has such: means over some samples of each pixel, computed on all
/// devices. Else empty. On the ranks of a cluster all call it.
[[nodiscard]] std::vector<FirstHit> find_first_hits(headrace::Runtime& runtime, const Options& options,
                                                    const Frame& frame, const Placement& placement,
                                                    const SceneDomains& scene);

} // namespace path_tracer
