// tests/apps/random_stacks.cpp - see random_stacks.hpp.
#include "random_stacks.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace fluorescence::test {
namespace {

class Choices {
public:
    explicit Choices(std::uint64_t seed) : random_(seed) {}

    double between(double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random_);
    }
    bool one_in(int times) { return std::uniform_int_distribution<int>(1, times)(random_) == 1; }
    double magnitude(double least, double most) { return std::exp(between(std::log(least), std::log(most))); }
    double g() {
        if (one_in(10)) return 1;
        if (one_in(10)) return one_in(2) ? 0 : -1;
        if (one_in(2)) return between(-1, 1);
        return 1 - magnitude(1e-9, 0.1);
    }

private:
    std::mt19937_64 random_;
};

LayerSpec random_layer(Choices& choose, double n_before, double thickest) {
    LayerSpec layer;
    layer.n = choose.one_in(3) ? n_before : choose.between(1, 3);
    layer.excitation = {choose.one_in(4) ? 0 : choose.magnitude(1e-4, 1e7),
                        choose.one_in(5) ? 0 : choose.magnitude(1e-3, 1e5), choose.g()};
    if (choose.one_in(6)) layer.excitation.mua = layer.excitation.mus = 0;
    const auto& [mua, mus, g, phase] = layer.excitation;
    // Some are of any thickness; most so thick that light comes to what is behind them.
    layer.thickness = choose.magnitude(1e-8, 1e3);
    if (mua > 0 && !choose.one_in(4)) layer.thickness = choose.magnitude(1e-4, 3) / mua;
    const double most = mus > 999 * mua ? thickest : 1e9;
    if (mus > 0) layer.thickness = std::min(layer.thickness, most / mus);
    layer.thickness = std::clamp(layer.thickness, 1e-8, 1e3);
    return layer;
}

} // namespace

Problem random_stack(std::uint64_t seed, double thickest) {
    Choices choose(seed);
    Problem problem;
    problem.name = "stack " + std::to_string(seed);
    problem.n_above = choose.one_in(2) ? 1 : choose.between(1, 3);
    const int layers = static_cast<int>(choose.between(1, 9));
    double n = problem.n_above;
    for (int i = 0; i < layers; ++i) {
        problem.layers.push_back(random_layer(choose, n, thickest));
        n = problem.layers.back().n;
    }
    problem.n_below = choose.one_in(2) ? n : choose.between(1, 3);
    problem.grid = {0.01, 0.01, 10, 10, 3, {}, {}, {}, {}};
    return problem;
}

} // namespace fluorescence::test
