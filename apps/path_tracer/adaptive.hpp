// apps/path_tracer/adaptive.hpp - which pixels get more samples, until each tile of a picture is good enough.
//
// Rounds of samples tell how noisy they are: the means of a pixel in several rounds differ by chance alone.
// The rounds of all pixels of a tile together are enough numbers to say how much.
#pragma once
#include "film_sums.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace path_tracer {

/// A state machine of values: it knows no device and no clock. The same sums make the same choices.
class AdaptiveSampling {
public:
    static constexpr uint32_t tile_width = 16;

    /// `error`: wanted of each tile; see Reached. `most_samples`: of a pixel
    AdaptiveSampling(uint32_t width, uint32_t height, double error, uint32_t most_samples);

    /// Pixels of tiles that are not good enough, tile by tile. They all have the same number of samples.
    /// Empty: nothing is to be done.
    [[nodiscard]] std::span<const uint32_t> pixels() const { return pixels_; }
    /// So many more samples of these, in the next round.
    [[nodiscard]] uint32_t next_samples() const;
    /// Of each of these pixels, so far.
    [[nodiscard]] uint32_t samples() const { return samples_; }

    /// The round has ended. `sums`: of all samples so far, of all pixels. `done`: paths of the round, if time
    /// ran out: they are in the order of its work indices.
    void add_round(std::span<const RgbSum> sums, std::uint64_t done);

    /// Samples of each pixel.
    [[nodiscard]] std::span<const uint32_t> counts() const { return counts_; }
    /// The same with so many paths of the round that runs.
    [[nodiscard]] std::vector<uint32_t> counts_with(std::uint64_t done) const;

    struct Reached {
        std::size_t tiles = 0, good_tiles = 0;
        /// Of the worst tile: root of the mean squared standard error of its pixels' luminances, over the
        /// mean of these. 0 for a black tile.
        std::optional<double> worst_error{}; ///< none: some tile had too few rounds to tell
    };
    [[nodiscard]] Reached reached() const;

private:
    struct Tile {
        std::optional<double> error{}; ///< none: it is not known
        bool is_good = false;
    };
    /// Weighted mean of a pixel's rounds, and the sum of their weighted squared differences to it.
    struct Spread {
        double mean = 0, squares = 0;
        uint32_t rounds = 0;
    };

    [[nodiscard]] uint32_t columns() const { return (width_ + tile_width - 1) / tile_width; }
    template <class Visit>
    void for_each_pixel(std::size_t tile, const Visit& visit) const;
    void choose_pixels();
    void judge(std::size_t tile);
    /// Of the pixel at this place in `pixels_`, of so many paths of a round.
    [[nodiscard]] uint32_t added(std::size_t place, std::uint64_t done) const {
        return static_cast<uint32_t>(done / pixels_.size() + (place < done % pixels_.size() ? 1 : 0));
    }

    uint32_t width_, height_;
    double wanted_;
    uint32_t most_samples_, samples_ = 0;
    std::vector<Tile> tiles_;
    std::vector<Spread> spreads_; ///< of each pixel
    std::vector<uint32_t> counts_, pixels_;
};

} // namespace path_tracer
