// apps/path_tracer/environment_map.cpp - see environment_map.hpp.
#include "environment_map.hpp"
#include "alias_table.hpp"
#include "path.hpp"
#include "prepared_textures.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>

namespace path_tracer {

using headrace::Error;
using headrace::ErrorKind;

TextureImage load_environment(const std::filesystem::path& file, const FileRules& rules) {
    const SceneFiles files(file, rules);
    TextureImage image = decode_texture(file.string(), files.read_scene(), TexelMeaning::environment);
    if (std::all_of(image.texels.begin(), image.texels.end(),
                    [](const Texel& texel) { return luminance(texel_value(texel).colour) == 0; }))
        throw Error{ErrorKind::invalid_argument,
                    file.string() + ": is black; leave it out, and take --sky 0,0,0"};
    return image;
}

void add_environment(const TextureImage& image, PreparedScene& scene) {
    // A power of two, or random numbers would take some cells more often than others.
    constexpr std::uint32_t most_columns = 1024, most_rows = 512;
    const std::uint32_t columns = std::min(std::bit_ceil(image.width), most_columns),
                        rows = std::min(std::bit_ceil(image.height), most_rows);
    std::vector<double> weights(std::size_t{columns} * rows, 0.0);
    // All texels that a cell shows some of: those around it run into it.
    const auto first = [](std::uint32_t cell, std::uint32_t cells, std::uint32_t texels) {
        return std::int64_t{cell} * texels / cells - 1;
    };
    for (std::uint32_t row = 0; row < rows; ++row) {
        const double height = std::cos(std::numbers::pi * row / rows) -
                              std::cos(std::numbers::pi * (row + 1) / rows); // of the zone
        const std::int64_t upper = std::max<std::int64_t>(first(row, rows, image.height), 0),
                           lower = std::min<std::int64_t>(first(row + 1, rows, image.height) + 2,
                                                          image.height - 1);
        for (std::uint32_t column = 0; column < columns; ++column) {
            double sum = 0;
            std::int64_t texels = 0;
            for (std::int64_t y = upper; y <= lower; ++y)
                for (std::int64_t x = first(column, columns, image.width);
                     x <= first(column + 1, columns, image.width) + 2; ++x, ++texels) {
                    const auto across = static_cast<std::size_t>((x + image.width) % image.width);
                    sum += double{luminance(
                        texel_value(image.texels[static_cast<std::size_t>(y) * image.width + across])
                            .colour)};
                }
            weights[std::size_t{row} * columns + column] = height * sum / static_cast<double>(texels);
        }
    }
    double total = 0;
    for (const double weight : weights) total += weight;
    const std::vector<AliasColumn> table = alias_table(weights);
    scene.environment.resize(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        // Within a cell longitude and latitude are uniform; the sine of the angle from above is divided out
        // later.
        const double density = weights[i] / total * static_cast<double>(table.size()) /
                               (2 * std::numbers::pi * std::numbers::pi);
        scene.environment[i] = {table[i].keep, table[i].alias, static_cast<float>(density), 0};
    }
    scene.environment_columns = columns;
    scene.environment_rows = rows;
    scene.environment_scale = image.scale;
    scene.environment_texture = add_texture(image, scene);
}

} // namespace path_tracer
