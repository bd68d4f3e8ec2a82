// tests/apps/khronos_models.hpp - models like Khronos' sample models, rebuilt small: glTF with its data in
// one text.
//
// Each is seen as a chart: a grid of cells, 8 x 8 pixels each, that show one material each, by parallel rays
// from +z.
#pragma once
#include "apps/reference_tracer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace path_tracer::test {

/// What a cell of a chart shows.
struct ModelCell {
    std::string name;
    /// By how much its mean may differ besides noise, relative to it. Kernels interpolate albedos in tables
    /// of 32 x 32 entries, which are right to about a hundredth where surfaces are rough.
    double tolerance;
};

struct KhronosModel {
    static constexpr std::size_t cell = 8; ///< pixels along each side

    std::string name;
    std::string gltf;
    std::size_t columns, rows;    ///< of cells
    std::vector<ModelCell> cells; ///< row by row from the top
    double sky;
    int max_depth;

    /// Two units of the scene for each cell, around the origin.
    [[nodiscard]] ReferenceView view() const;
};

/// Those whose pictures the reference tracer makes.
[[nodiscard]] std::vector<KhronosModel> khronos_models();

} // namespace path_tracer::test
