// apps/path_tracer/adaptive.cpp - see adaptive.hpp.
#include "adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace path_tracer {
namespace {

constexpr uint32_t first_samples = 8;
/// A tile may look good before it has seen its rare bright samples.
constexpr uint32_t least_rounds = 4;
/// And an error is known no better than from so many differences between rounds, over all of its pixels.
constexpr double least_differences = 64;

} // namespace

AdaptiveSampling::AdaptiveSampling(uint32_t width, uint32_t height, double error, uint32_t most_samples)
    : width_(width),
      height_(height),
      wanted_(error),
      most_samples_(most_samples),
      tiles_(std::size_t{columns()} * ((height + tile_width - 1) / tile_width)),
      spreads_(std::size_t{width} * height),
      counts_(spreads_.size()) {
    choose_pixels();
}

/// Rounds are equally long first, and then half as long as all before them.
uint32_t AdaptiveSampling::next_samples() const {
    return std::min(std::max(first_samples, samples_ / 2), most_samples_ - samples_);
}

template <class Visit>
void AdaptiveSampling::for_each_pixel(std::size_t tile, const Visit& visit) const {
    const auto left = static_cast<uint32_t>(tile % columns()) * tile_width,
               upper = static_cast<uint32_t>(tile / columns()) * tile_width;
    for (uint32_t y = upper; y < std::min(upper + tile_width, height_); ++y)
        for (uint32_t x = left; x < std::min(left + tile_width, width_); ++x) visit(y * width_ + x);
}

void AdaptiveSampling::choose_pixels() {
    pixels_.clear();
    if (samples_ == most_samples_) return;
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile)
        if (!tiles_[tile].is_good) for_each_pixel(tile, [&](uint32_t pixel) { pixels_.push_back(pixel); });
}

void AdaptiveSampling::add_round(std::span<const RgbSum> sums, std::uint64_t done) {
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
        const uint32_t pixel = pixels_[i], more = added(i, done);
        if (more == 0) continue;
        Spread& spread = spreads_[pixel];
        const double before = counts_[pixel], after = before + more;
        const double mean_of_round = (luminance(sums[pixel]) - spread.mean * before) / more;
        const double difference = mean_of_round - spread.mean;
        spread.mean += difference * more / after;
        spread.squares += before * more / after * difference * difference;
        ++spread.rounds;
        counts_[pixel] += more;
    }
    const bool is_whole = done == std::uint64_t{next_samples()} * pixels_.size();
    samples_ += static_cast<uint32_t>(done / pixels_.size());
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile)
        if (!tiles_[tile].is_good) judge(tile);
    if (is_whole)
        choose_pixels();
    else
        pixels_.clear(); // pixels of a tile differ: there was no time
}

std::vector<uint32_t> AdaptiveSampling::counts_with(std::uint64_t done) const {
    std::vector<uint32_t> counts = counts_;
    for (std::size_t i = 0; i < pixels_.size(); ++i) counts[pixels_[i]] += added(i, done);
    return counts;
}

void AdaptiveSampling::judge(std::size_t tile) {
    double squares = 0, sum = 0, pixels = 0, differences = 0;
    uint32_t fewest = std::numeric_limits<uint32_t>::max(); // rounds
    for_each_pixel(tile, [&](uint32_t pixel) {
        const Spread& spread = spreads_[pixel];
        fewest = std::min(fewest, spread.rounds);
        if (spread.rounds > 1) squares += spread.squares / ((spread.rounds - 1.0) * counts_[pixel]);
        sum += spread.mean;
        differences += std::max(spread.rounds, 1u) - 1;
        ++pixels;
    });
    Tile& judged = tiles_[tile];
    if (fewest < 2) return;
    judged.error = squares == 0 ? 0 : std::sqrt(squares / pixels) / (sum / pixels);
    judged.is_good = fewest >= least_rounds && differences >= least_differences && *judged.error <= wanted_;
}

AdaptiveSampling::Reached AdaptiveSampling::reached() const {
    Reached reached{.tiles = tiles_.size()};
    reached.worst_error = 0;
    for (const Tile& tile : tiles_) {
        if (tile.is_good) ++reached.good_tiles;
        if (!tile.error || !reached.worst_error)
            reached.worst_error.reset();
        else
            reached.worst_error = std::max(*reached.worst_error, *tile.error);
    }
    return reached;
}

} // namespace path_tracer
