// apps/path_tracer/adaptive.cpp - see adaptive.hpp.
#include "adaptive.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace path_tracer {
namespace {

constexpr uint32_t first_samples = 8;
/// A tile may look good before it has seen its rare bright samples.
constexpr uint32_t least_rounds = 4;

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

void AdaptiveSampling::add_round(std::span<const Rgb> sums, std::uint64_t done) {
    const std::uint64_t whole = done / pixels_.size(), rest = done % pixels_.size();
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
        const uint32_t pixel = pixels_[i];
        const auto added = static_cast<uint32_t>(whole + (i < rest ? 1 : 0));
        if (added == 0) continue;
        const double before = counts_[pixel], after = before + added;
        const double mean_of_round = (double{luminance(sums[pixel])} - spreads_[pixel].mean * before) / added;
        Spread& spread = spreads_[pixel];
        const double difference = mean_of_round - spread.mean;
        spread.mean += difference * added / after;
        spread.squares += before * added / after * difference * difference;
        counts_[pixel] += added;
    }
    const bool is_whole = rest == 0 && whole == next_samples();
    samples_ += static_cast<uint32_t>(whole);
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile)
        if (!tiles_[tile].is_good) judge(tile);
    if (is_whole)
        choose_pixels();
    else
        pixels_.clear(); // pixels of a tile differ: there was no time
}

void AdaptiveSampling::judge(std::size_t tile) {
    Tile& judged = tiles_[tile];
    ++judged.rounds;
    double squares = 0, sum = 0, pixels = 0;
    for_each_pixel(tile, [&](uint32_t pixel) {
        const double rounds = judged.rounds, samples = counts_[pixel];
        if (rounds > 1 && samples > 0) squares += spreads_[pixel].squares / ((rounds - 1) * samples);
        sum += spreads_[pixel].mean;
        ++pixels;
    });
    judged.error = judged.rounds < 2 ? std::numeric_limits<double>::infinity()
                   : squares == 0    ? 0
                                     : std::sqrt(squares / pixels) / (sum / pixels);
    judged.is_good = judged.rounds >= least_rounds && judged.error <= wanted_;
}

AdaptiveSampling::Reached AdaptiveSampling::reached() const {
    Reached reached{.tiles = tiles_.size()};
    for (const Tile& tile : tiles_) {
        if (tile.error <= wanted_) ++reached.good_tiles;
        reached.worst_error = std::max(reached.worst_error, tile.error);
    }
    const auto [least, most] = std::minmax_element(counts_.begin(), counts_.end());
    reached.least_samples = *least;
    reached.most_samples = *most;
    double sum = 0;
    for (const uint32_t count : counts_) sum += count;
    reached.mean_samples = sum / static_cast<double>(counts_.size());
    return reached;
}

} // namespace path_tracer
