// Skins and morph targets of glTF files, against formulas of the specification in double precision.
#include "apps/error_of.hpp"
#include "apps/gltf_writer.hpp"
#include "apps/seeds.hpp"
#include "path.hpp"
#include "scene.hpp"
#include <core/scratch_folder.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace path_tracer::test {
namespace {

using headrace::test::error_of;
using headrace::test::mentions;
using headrace::test::ScratchFolder;
using Json = nlohmann::json;
using Component = Numbers::Component;
using Storage = Numbers::Storage;

constexpr const char* white_pixel =
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==";

// ---- what the specification says, by itself

/// Row by row.
struct Matrix {
    std::array<std::array<double, 4>, 4> rows{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};

    friend Matrix operator*(const Matrix& a, const Matrix& b) {
        Matrix product;
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < 4; ++j) {
                product.rows[i][j] = 0;
                for (std::size_t k = 0; k < 4; ++k) product.rows[i][j] += a.rows[i][k] * b.rows[k][j];
            }
        return product;
    }
    [[nodiscard]] Point operator()(Point p) const {
        const auto part = [&](std::size_t i) {
            return rows[i][0] * p.x + rows[i][1] * p.y + rows[i][2] * p.z + rows[i][3];
        };
        return {part(0), part(1), part(2)};
    }
    [[nodiscard]] double minor_of(std::size_t row, std::size_t column) const {
        const std::size_t r0 = (row + 1) % 3, r1 = (row + 2) % 3, c0 = (column + 1) % 3,
                          c1 = (column + 2) % 3;
        return rows[r0][c0] * rows[r1][c1] - rows[r0][c1] * rows[r1][c0];
    }
    [[nodiscard]] double determinant() const {
        return rows[0][0] * minor_of(0, 0) + rows[0][1] * minor_of(0, 1) + rows[0][2] * minor_of(0, 2);
    }
    /// Of the surface whose points this moves, on the side on which it was.
    [[nodiscard]] Point normal(Point n) const {
        const auto part = [&](std::size_t i) {
            return minor_of(i, 0) * n.x + minor_of(i, 1) * n.y + minor_of(i, 2) * n.z;
        };
        return {part(0), part(1), part(2)};
    }
    [[nodiscard]] std::vector<double> columns() const {
        std::vector<double> numbers;
        for (std::size_t column = 0; column < 4; ++column)
            for (const auto& row : rows) numbers.push_back(row[column]);
        return numbers;
    }
};

struct RandomNode {
    std::array<double, 3> shift{}, scale{1, 1, 1};
    std::array<double, 4> turn{0, 0, 0, 1};
    bool is_matrix = false;
    std::optional<std::size_t> parent{};

    [[nodiscard]] Matrix own() const {
        const auto turned = [this](Point p) { // q p q*, of a unit quaternion
            const Point axis{turn[0], turn[1], turn[2]};
            return p + cross(axis, cross(axis, p) + p * turn[3]) * 2;
        };
        Matrix matrix;
        for (std::size_t i = 0; i < 3; ++i) {
            Point axis{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
            axis = turned(axis) * scale[i];
            matrix.rows[0][i] = axis.x;
            matrix.rows[1][i] = axis.y;
            matrix.rows[2][i] = axis.z;
            matrix.rows[i][3] = shift[i];
        }
        return matrix;
    }
    [[nodiscard]] Json json() const {
        if (is_matrix) return {{"matrix", own().columns()}};
        return {{"translation", shift}, {"rotation", turn}, {"scale", scale}};
    }
};

/// A file with one mesh of one primitive, and what is to be seen of it.
struct RandomFile {
    GltfWriter writer;
    std::vector<Matrix> transforms; ///< of each vertex
    std::vector<Point> positions, normals;
    std::vector<std::array<double, 4>> colours;
    std::vector<std::array<double, 2>> places;
    std::vector<std::size_t> indices;
    bool has_opacity = false;
};

class PosedGltf : public Seeded {
protected:
    Scene load(const std::string& text) { return load_scene(folder.write("p.gltf", text), 0.5f); }
    headrace::Error refusal(const std::string& text) {
        const auto path = folder.write("r.gltf", text);
        headrace::Error error = error_of([&] { static_cast<void>(load_scene(path, 0.5f)); });
        EXPECT_TRUE(error.is_users_mistake()) << error.what();
        return error;
    }

    bool maybe() { return whole_between(0, 1) == 1; }
    template <class Item>
    Item one_of(const std::vector<Item>& items) {
        return items[static_cast<std::size_t>(whole_between(0, static_cast<int>(items.size()) - 1))];
    }

    /// Such that numbers mean something between `least` and `most`, as far as the component can.
    Numbers random_numbers(const std::string& type, std::size_t width, std::size_t count,
                           std::pair<Component, bool> kind, double least, double most) {
        Numbers numbers{type, width, kind.first, kind.second};
        for (std::size_t i = 0; i < width * count; ++i) {
            const double meant =
                between(kind.first == Numbers::u8 || kind.first == Numbers::u16 ? 0 : least, most);
            if (kind.first == Numbers::f32) {
                numbers.raw.push_back(double{static_cast<float>(meant)});
                continue;
            }
            const double scaled = numbers.is_normalized ? meant * numbers.largest() : meant * 40;
            numbers.raw.push_back(std::round(
                std::clamp(scaled, numbers.is_signed() ? -numbers.largest() - 1 : 0.0, numbers.largest())));
        }
        return numbers;
    }
    RandomNode random_node() {
        RandomNode node;
        for (double& part : node.shift) part = between(-2, 2);
        for (double& part : node.scale) part = between(0.4, 2) * (whole_between(0, 5) == 0 ? -1 : 1);
        double size = 0;
        for (double& part : node.turn) part = between(-1, 1);
        for (const double part : node.turn) size += part * part;
        for (double& part : node.turn) part /= std::sqrt(size);
        node.is_matrix = whole_between(0, 3) == 0;
        return node;
    }

    /// What each target adds to numbers of the primitive; writes the targets.
    struct Morph {
        std::vector<double> weights;
        Json targets = Json::array();
    };
    /// Adds targets of one attribute to `sum`, numbers of each vertex.
    void morph(GltfWriter& writer, Morph& morph, const std::string& name, const std::string& type,
               std::size_t width, const std::vector<std::pair<Component, bool>>& kinds, std::size_t vertices,
               std::vector<double>& sum, std::size_t width_of_sum) {
        for (std::size_t target = 0; target < morph.weights.size(); ++target) {
            if (whole_between(0, 4) == 0) continue; // not of this attribute
            Numbers added = random_numbers(type, width, vertices, one_of(kinds), -0.5, 0.5);
            added.storage = one_of<Storage>({Storage::dense, Storage::sparse, Storage::sparse_on_zeros});
            if (added.storage != Storage::dense)
                for (std::size_t vertex = 0; vertex < vertices; ++vertex)
                    if (maybe())
                        for (std::size_t i = 0; i < width; ++i) added.raw[vertex * width + i] = 0;
            morph.targets[target][name] = writer.add(added);
            for (std::size_t vertex = 0; vertex < vertices; ++vertex)
                for (std::size_t i = 0; i < std::min(width, width_of_sum); ++i)
                    sum[vertex * width_of_sum + i] += morph.weights[target] * added.meant(vertex, i);
        }
    }
    static std::vector<double> meant(const Numbers& numbers) {
        std::vector<double> all;
        for (std::size_t i = 0; i < numbers.count(); ++i)
            for (std::size_t j = 0; j < numbers.width; ++j) all.push_back(numbers.meant(i, j));
        return all;
    }

    RandomFile random_file() {
        RandomFile file;
        GltfWriter& writer = file.writer;
        const std::vector<std::pair<Component, bool>> whole_or_part = {
            {Numbers::f32, false}, {Numbers::i8, false},  {Numbers::i8, true},
            {Numbers::u8, false},  {Numbers::u8, true},   {Numbers::i16, false},
            {Numbers::i16, true},  {Numbers::u16, false}, {Numbers::u16, true}};
        const std::vector<std::pair<Component, bool>> moves = {{Numbers::f32, false},
                                                               {Numbers::i8, false},
                                                               {Numbers::i8, true},
                                                               {Numbers::i16, false},
                                                               {Numbers::i16, true}};
        const std::vector<std::pair<Component, bool>> parts = {
            {Numbers::f32, false}, {Numbers::i8, true}, {Numbers::i16, true}};
        const std::vector<std::pair<Component, bool>> fractions = {
            {Numbers::f32, false}, {Numbers::u8, true}, {Numbers::u16, true}};
        const auto vertices = static_cast<std::size_t>(whole_between(3, 20));

        Morph targets;
        for (int i = whole_between(0, 4); i > 0; --i) {
            targets.weights.push_back(whole_between(0, 3) == 0 ? 0 : between(-1, 1.5));
            targets.targets.push_back(Json::object());
        }

        Json attributes;
        const Numbers positions = random_numbers("VEC3", 3, vertices, one_of(whole_or_part), -1, 1);
        attributes["POSITION"] = writer.add(positions);
        std::vector<double> at = meant(positions);
        morph(writer, targets, "POSITION", "VEC3", 3, moves, vertices, at, 3);
        for (std::size_t i = 0; i < vertices; ++i)
            file.positions.push_back({at[3 * i], at[3 * i + 1], at[3 * i + 2]});
        if (maybe()) {
            const Numbers normals = random_numbers("VEC3", 3, vertices, one_of(parts), -1, 1);
            attributes["NORMAL"] = writer.add(normals);
            std::vector<double> along = meant(normals);
            morph(writer, targets, "NORMAL", "VEC3", 3, parts, vertices, along, 3);
            for (std::size_t i = 0; i < vertices; ++i)
                file.normals.push_back({along[3 * i], along[3 * i + 1], along[3 * i + 2]});
        }
        if (maybe()) {
            file.has_opacity = maybe();
            const std::size_t width = file.has_opacity ? 4 : 3;
            const Numbers colours =
                random_numbers(file.has_opacity ? "VEC4" : "VEC3", width, vertices, one_of(fractions), 0, 1);
            attributes["COLOR_0"] = writer.add(colours);
            std::vector<double> tints = meant(colours);
            const bool is_wide = maybe();
            morph(writer, targets, "COLOR_0", is_wide ? "VEC4" : "VEC3", is_wide ? 4 : 3, parts, vertices,
                  tints, width);
            for (std::size_t i = 0; i < vertices; ++i) {
                std::array<double, 4> tint{0, 0, 0, 1};
                for (std::size_t k = 0; k < width; ++k) tint[k] = std::clamp(tints[width * i + k], 0.0, 1.0);
                file.colours.push_back(tint);
            }
        }
        if (maybe()) {
            attributes["TEXCOORD_0"] =
                writer.add(random_numbers("VEC2", 2, vertices, one_of(fractions), 0, 1));
            const Numbers places = random_numbers("VEC2", 2, vertices, one_of(fractions), 0, 1);
            attributes["TEXCOORD_1"] = writer.add(places);
            std::vector<double> uv = meant(places);
            morph(writer, targets, "TEXCOORD_1", "VEC2", 2, moves, vertices, uv, 2);
            for (std::size_t i = 0; i < vertices; ++i) file.places.push_back({uv[2 * i], uv[2 * i + 1]});
        }
        add_nodes(file, attributes, vertices);

        Numbers indices{"SCALAR", 1, Numbers::u16};
        for (int i = whole_between(1, 12) * 3; i > 0; --i)
            indices.raw.push_back(whole_between(0, static_cast<int>(vertices) - 1));
        for (const double index : indices.raw) file.indices.push_back(static_cast<std::size_t>(index));
        Json primitive = {{"attributes", attributes}, {"indices", writer.add(indices)}, {"material", 0}};
        Json mesh;
        if (!targets.weights.empty()) {
            primitive["targets"] = targets.targets;
            const bool is_of_node = maybe();
            if (is_of_node) writer.json["nodes"][0]["weights"] = targets.weights;
            if (!is_of_node) mesh["weights"] = targets.weights;
            if (is_of_node && maybe()) mesh["weights"] = {7, 7, 7, 7, 7, 7}; // not used
        }
        mesh["primitives"] = Json::array({primitive});
        writer.json["meshes"] = Json::array({mesh});
        Json material = Json::object();
        if (!file.places.empty())
            material["pbrMetallicRoughness"]["baseColorTexture"] = {{"index", 0}, {"texCoord", 1}};
        writer.json["materials"] = Json::array({material});
        writer.json["textures"] = Json::array({Json::object({{"source", 0}})});
        writer.json["images"] = Json::array({Json::object({{"uri", white_pixel}})});
        return file;
    }

    /// Node 0 shows the mesh, below node 1; the others are joints, if there are any.
    void add_nodes(RandomFile& file, Json& attributes, std::size_t vertices) {
        const auto joints = static_cast<std::size_t>(maybe() ? whole_between(1, 9) : 0);
        std::vector<RandomNode> nodes;
        for (std::size_t i = 0; i < 2 + joints; ++i) {
            nodes.push_back(random_node());
            // Joints stand below one another, below node 1, or outside of the scene.
            if (i == 0 || (i > 2 && whole_between(0, 3) != 0))
                nodes[i].parent =
                    i == 0 ? 1 : static_cast<std::size_t>(whole_between(1, static_cast<int>(i) - 1));
        }
        Json& json = file.writer.json["nodes"];
        for (const RandomNode& node : nodes) json.push_back(node.json());
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (nodes[i].parent) json[*nodes[i].parent]["children"].push_back(i);
        json[0]["mesh"] = 0;
        file.writer.json["scenes"] = Json::array({Json::object({{"nodes", Json::array({1})}})});
        const auto world = [&nodes](std::size_t node) {
            Matrix matrix = nodes[node].own();
            for (auto parent = nodes[node].parent; parent; parent = nodes[*parent].parent)
                matrix = nodes[*parent].own() * matrix;
            return matrix;
        };
        file.transforms.assign(vertices, world(0));
        if (joints == 0) return;

        std::vector<Matrix> matrices;
        Numbers inverse_binds{"MAT4", 16};
        Json skin;
        for (std::size_t i = 0; i < joints; ++i) {
            // In any order, and none twice.
            const std::size_t node = 2 + (i * (joints == 9 ? 4 : 1) + 1) % joints;
            skin["joints"].push_back(node);
            Matrix bind = random_node().own();
            for (auto& row : bind.rows)
                for (double& number : row) number = double{static_cast<float>(number)};
            const std::vector<double> columns = bind.columns();
            inverse_binds.raw.insert(inverse_binds.raw.end(), columns.begin(), columns.end());
            matrices.push_back(world(node) * bind);
        }
        if (maybe())
            skin["inverseBindMatrices"] = file.writer.add(inverse_binds);
        else
            for (std::size_t i = 0; i < joints; ++i)
                matrices[i] = world(skin["joints"][i].get<std::size_t>());
        json[0]["skin"] = 0;
        file.writer.json["skins"] = Json::array({skin});
        add_influences(file, attributes, vertices, matrices);
    }

    void add_influences(RandomFile& file, Json& attributes, std::size_t vertices,
                        const std::vector<Matrix>& matrices) {
        const int sets = whole_between(1, 2);
        std::vector<Matrix> sums(vertices);
        std::vector<double> weights_of(vertices, 0);
        for (Matrix& sum : sums) sum = Matrix{{}};
        for (int set = 0; set < sets; ++set) {
            Numbers joints{"VEC4", 4, maybe() ? Numbers::u8 : Numbers::u16};
            Numbers weights{"VEC4", 4, one_of<Component>({Numbers::f32, Numbers::u8, Numbers::u16})};
            weights.is_normalized = weights.component != Numbers::f32;
            const double one = weights.is_normalized ? weights.largest() : 1.0;
            for (std::size_t vertex = 0; vertex < vertices; ++vertex)
                for (int i = 0; i < 4; ++i) {
                    const bool is_used = (set == 0 && i == 0) || maybe();
                    const auto joint =
                        static_cast<std::size_t>(whole_between(0, static_cast<int>(matrices.size()) - 1));
                    const double raw = between(0.05, 0.3) * one;
                    // A joint without weight may be any.
                    joints.raw.push_back(is_used ? static_cast<double>(joint) : 200);
                    weights.raw.push_back(!is_used                ? 0
                                          : weights.is_normalized ? std::round(raw)
                                                                  : double{static_cast<float>(raw)});
                    if (!is_used) continue;
                    const double weight = weights.meant(vertex, static_cast<std::size_t>(i));
                    weights_of[vertex] += weight;
                    for (std::size_t row = 0; row < 4; ++row)
                        for (std::size_t column = 0; column < 4; ++column)
                            sums[vertex].rows[row][column] += weight * matrices[joint].rows[row][column];
                }
            attributes["JOINTS_" + std::to_string(set)] = file.writer.add(joints);
            attributes["WEIGHTS_" + std::to_string(set)] = file.writer.add(weights);
        }
        for (std::size_t vertex = 0; vertex < vertices; ++vertex)
            for (auto& row : sums[vertex].rows)
                for (double& number : row) number /= weights_of[vertex];
        file.transforms = sums;
    }

    struct ShownTriangle {
        std::array<std::size_t, 3> vertices;
        std::array<Point, 3> at;
    };
    static std::vector<ShownTriangle> shown_triangles(const RandomFile& file) {
        std::vector<ShownTriangle> shown;
        for (std::size_t first = 0; first < file.indices.size(); first += 3) {
            ShownTriangle triangle{{file.indices[first], file.indices[first + 1], file.indices[first + 2]},
                                   {}};
            auto& [vertices, at] = triangle;
            const auto mirrored = std::count_if(vertices.begin(), vertices.end(), [&](std::size_t vertex) {
                return file.transforms[vertex].determinant() < 0;
            });
            if (mirrored >= 2) std::swap(vertices[0], vertices[1]);
            for (std::size_t k = 0; k < 3; ++k)
                at[k] = file.transforms[vertices[k]](file.positions[vertices[k]]);
            const Point first_edge = at[1] - at[0], second_edge = at[2] - at[0];
            const double longest =
                std::max({length(first_edge), length(second_edge), length(first_edge - second_edge)});
            if (length(cross(first_edge, second_edge)) > 1e-11 * longest * longest) shown.push_back(triangle);
        }
        return shown;
    }

    static void expect_shown(const RandomFile& file, const Scene& scene) {
        std::size_t number = 0;
        for (const auto& [corners, at] : shown_triangles(file)) {
            ASSERT_LT(number, scene.triangles.size());
            const SceneTriangle& triangle = scene.triangles[number++];
            const std::array<Point, 3> shown = {triangle.a, triangle.b, triangle.c};
            for (std::size_t k = 0; k < 3; ++k)
                ASSERT_LT(length(shown[k] - at[k]), 1e-6 * std::max(1.0, length(at[k])));
            ASSERT_EQ(triangle.colours != SceneTriangle::none, !file.colours.empty());
            for (std::size_t k = 0; k < 3; ++k) {
                if (!file.normals.empty()) {
                    ASSERT_NE(triangle.normals, SceneTriangle::none);
                    const Point along =
                        normalised(file.transforms[corners[k]].normal(file.normals[corners[k]]));
                    const Point seen = wide(decoded_normal(scene.normals[triangle.normals][k]));
                    ASSERT_LT(length(seen - along), 2e-4); // their code is that coarse
                }
                if (!file.colours.empty()) {
                    const auto& [colour, opacity] = scene.colours[triangle.colours][k];
                    const std::array<double, 4>& tint = file.colours[corners[k]];
                    ASSERT_NEAR(colour.r, tint[0], 1e-6);
                    ASSERT_NEAR(colour.g, tint[1], 1e-6);
                    ASSERT_NEAR(colour.b, tint[2], 1e-6);
                    ASSERT_NEAR(opacity, file.has_opacity ? tint[3] : 1.0, 1e-6);
                }
                if (!file.places.empty()) {
                    const TexturePoint place = scene.places[triangle.places + 1][k];
                    const std::array<double, 2>& uv = file.places[corners[k]];
                    ASSERT_NEAR(place.u, uv[0], 1e-6 * std::max(1.0, std::abs(uv[0])));
                    ASSERT_NEAR(place.v, uv[1], 1e-6 * std::max(1.0, std::abs(uv[1])));
                }
            }
        }
        ASSERT_EQ(number, scene.triangles.size());
    }

    ScratchFolder folder;
};
TEST_F(PosedGltf, RandomFilesAreShownAsTheSpecificationSays) {
    for (int i = 0; i < 100; ++i) {
        RandomFile file = random_file();
        const std::string text = file.writer.text();
        SCOPED_TRACE(text);
        if (shown_triangles(file).empty()) continue; // which is refused
        expect_shown(file, load(text));
        if (HasFatalFailure()) return;
    }
}

TEST_F(PosedGltf, IdentitiesMoveNothingByABit) {
    for (int i = 0; i < 20; ++i) {
        const auto vertices = static_cast<std::size_t>(whole_between(3, 12));
        GltfWriter writer;
        Json attributes = {
            {"POSITION", writer.add(random_numbers("VEC3", 3, vertices, {Numbers::f32, false}, -1, 1))},
            {"NORMAL", writer.add(random_numbers("VEC3", 3, vertices, {Numbers::f32, false}, -1, 1))},
            {"COLOR_0", writer.add(random_numbers("VEC3", 3, vertices, {Numbers::f32, false}, 0, 1))}};
        Numbers joints{"VEC4", 4, Numbers::u8}, binds{"MAT4", 16};
        for (std::size_t k = 0; k < 4 * vertices; ++k) joints.raw.push_back(whole_between(0, 2));
        for (const double x : {0.0, -3.0, -3.25}) { // what the joints' places undo
            const double scale = x == 0 ? 1 : 0.5;
            for (const double number :
                 {scale, 0.0, 0.0, 0.0, 0.0, scale, 0.0, 0.0, 0.0, 0.0, scale, 0.0, x * scale, 0.0, 0.0, 1.0})
                binds.raw.push_back(number);
        }
        const auto target = writer.add(random_numbers("VEC3", 3, vertices, {Numbers::f32, false}, -1, 1));
        writer.json["scenes"] = {{{"nodes", {0}}}};
        writer.json["nodes"] = Json::parse(
            R"([{"mesh":0},{},{"translation":[3,0,0],"scale":[2,2,2],"children":[3]},{"translation":[0.125,0,0]}])");
        writer.json["meshes"] = {{{"primitives", {{{"attributes", attributes}}}}}};
        const Scene plain = load(writer.text());

        attributes["JOINTS_0"] = writer.add(joints);
        attributes["WEIGHTS_0"] =
            writer.add(random_numbers("VEC4", 4, vertices, {Numbers::f32, false}, 0.1, 0.4));
        writer.json["skins"] = {{{"joints", {1, 2, 3}}, {"inverseBindMatrices", writer.add(binds)}}};
        writer.json["nodes"][0]["skin"] = 0;
        writer.json["meshes"] = {
            {{"primitives", {{{"attributes", attributes}, {"targets", {{{"POSITION", target}}}}}}},
             {"weights", {0}}}};
        const Scene posed = load(writer.text());
        ASSERT_EQ(plain.triangles.size(), posed.triangles.size());
        for (std::size_t k = 0; k < plain.triangles.size(); ++k) {
            ASSERT_EQ(plain.triangles[k].a, posed.triangles[k].a);
            ASSERT_EQ(plain.triangles[k].b, posed.triangles[k].b);
            ASSERT_EQ(plain.triangles[k].c, posed.triangles[k].c);
        }
        ASSERT_EQ(plain.normals, posed.normals);
    }
}

// ---- one triangle

/// Bound to two joints: vertex 0 to the first, vertex 1 to the second, vertex 2 to both. Both joints stand
/// outside of the scene.
class PosedTriangle : public testing::Test {
protected:
    PosedTriangle() {
        const auto add = [this](const char* type, std::size_t width, Component component,
                                std::vector<double> raw) {
            Numbers numbers{type, width, component};
            numbers.raw = std::move(raw);
            return writer.add(numbers);
        };
        const auto positions = add("VEC3", 3, Numbers::f32, {0, 0, 0, 1, 0, 0, 0, 1, 0});
        const auto joints = add("VEC4", 4, Numbers::u8, {0, 9, 9, 9, 1, 0, 0, 0, 0, 1, 0, 0});
        const auto weights = add("VEC4", 4, Numbers::f32, {1, 0, 0, 0, 1, 0, 0, 0, 0.5, 0.5, 0, 0});
        const auto target = add("VEC3", 3, Numbers::f32, {0, 0, 1, 0, 0, 2, 0, 0, 3});
        const auto matrices =
            add("MAT4", 16, Numbers::f32, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0,  0, 0, 1, //
                                           1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 1});
        writer.json["scenes"] = {{{"nodes", {0}}}};
        writer.json["nodes"] = Json::parse(
            R"([{"mesh":0,"skin":0,"translation":[50,0,0],"scale":[-1,1,1]},{"translation":[0,0,1]},)"
            R"({"translation":[0,0,2],"children":[3]},{"translation":[0,0,1]}])");
        writer.json["meshes"] = {
            {{"primitives",
              {{{"attributes", {{"POSITION", positions}, {"JOINTS_0", joints}, {"WEIGHTS_0", weights}}},
                {"targets", {{{"POSITION", target}}}}}}}}};
        writer.json["skins"] = {{{"joints", {1, 3}}, {"inverseBindMatrices", matrices}}};
    }
    Scene load(const std::string& text) { return load_scene(folder.write("t.gltf", text), 0.5f); }
    Scene load() { return load(writer.text()); }
    Json& attributes() { return writer.json["meshes"][0]["primitives"][0]["attributes"]; }
    std::size_t add(const char* type, std::size_t width, Component component, std::vector<double> raw,
                    bool is_normalized = false) {
        Numbers numbers{type, width, component, is_normalized};
        numbers.raw = std::move(raw);
        return writer.add(numbers);
    }
    void expect_refused(const std::string& word) {
        const auto path = folder.write("r.gltf", writer.text());
        const headrace::Error error = error_of([&] { static_cast<void>(load_scene(path, 0.5f)); });
        EXPECT_TRUE(error.is_users_mistake()) << error.what();
        EXPECT_TRUE(mentions(error, word)) << error.what();
        EXPECT_TRUE(mentions(error, "r.gltf")) << error.what();
    }
    static bool has_note(const Scene& scene, const std::string& word) {
        return std::any_of(scene.notes.begin(), scene.notes.end(),
                           [&](const std::string& note) { return note.find(word) != std::string::npos; });
    }

    GltfWriter writer;
    ScratchFolder folder;
};

TEST_F(PosedTriangle, IsWhereItsJointsAreAndNotItsNode) {
    const Scene scene = load();
    EXPECT_TRUE(scene.notes.empty()) << scene.notes.at(0);
    ASSERT_EQ(scene.triangles.size(), 1u);
    EXPECT_EQ(scene.triangles[0].a, (Point{0, 0, 1}));
    EXPECT_EQ(scene.triangles[0].b, (Point{0, 0, 3}));
    EXPECT_EQ(scene.triangles[0].c, (Point{-0.5, 1, 2}));
}

TEST_F(PosedTriangle, MorphsBeforeItsJointsMoveIt) {
    writer.json["meshes"][0]["weights"] = {0.5};
    EXPECT_EQ(load().triangles.at(0).b, (Point{0, 0, 4}));
    writer.json["nodes"][0]["weights"] = {-1};
    EXPECT_EQ(load().triangles.at(0).b, (Point{0, 0, 1}));
    writer.json["meshes"][0]["weights"] = {0.5, 1}; // the node has some
    EXPECT_EQ(load().triangles.at(0).b, (Point{0, 0, 1}));
}

TEST_F(PosedTriangle, TargetsWithoutWeightAreNotRead) {
    writer.json["meshes"][0]["primitives"][0]["targets"] = {{{"POSITION", 99}}};
    EXPECT_TRUE(load().notes.empty());
    writer.json["meshes"][0]["weights"] = {0};
    EXPECT_TRUE(load().notes.empty());
    writer.json["meshes"][0]["weights"] = {1e-9};
    expect_refused("names 99");
}

TEST_F(PosedTriangle, WhatIsMorphedFromNothingIsNothing) {
    writer.json["meshes"][0]["primitives"][0]["targets"][0] = {{"NORMAL", 99}, {"COLOR_0", 99}};
    writer.json["meshes"][0]["weights"] = {1};
    EXPECT_EQ(load().triangles.at(0).b, (Point{0, 0, 3}));
}

TEST_F(PosedTriangle, WeightsOfTargetsAreAsManyAsTargets) {
    writer.json["meshes"][0]["weights"] = {0.5, 0.5};
    expect_refused("1 morph targets, and 2 weights");
    writer.json["meshes"][0]["weights"] = Json::array();
    expect_refused("1 morph targets, and 0 weights");
    writer.json["meshes"][0]["weights"] = 3;
    expect_refused("no list of weights");
    writer.json["meshes"][0]["weights"] = {"much"};
    expect_refused("no finite number");
    writer.json["meshes"][0]["weights"] = {1e31};
    expect_refused("no finite number");
    writer.json["meshes"][0]["weights"] = {1e30};
    expect_refused("farther than 1e30");
    writer.json["meshes"][0]["weights"] = {1};
    writer.json["meshes"][0]["primitives"][0]["targets"][0]["POSITION"] =
        add("VEC3", 3, Numbers::f32, {0, 0, 1});
    expect_refused("morph target 0 has 1 elements of POSITION");
}

TEST_F(PosedTriangle, MirroredJointsKeepTheOutside) {
    const auto turns = [](const Scene& scene) {
        const SceneTriangle& t = scene.triangles.at(0);
        return cross(t.b - t.a, t.c - t.a).z > 0;
    };
    writer.json["skins"][0].erase("inverseBindMatrices");
    writer.json["nodes"] = Json::parse(R"([{"mesh":0,"skin":0},{},{"children":[3]},{}])");
    EXPECT_TRUE(turns(load()));
    for (const char* node : {"1", "3"}) writer.json["nodes"][std::stoul(node)]["scale"] = {-1, 1, 1};
    EXPECT_TRUE(turns(load()));
    // Of the corners, one or two are mirrored: what the others show decides.
    writer.json["nodes"][3].erase("scale");
    const Scene one = load();
    EXPECT_EQ(one.triangles.at(0).b, (Point{1, 0, 0})); // the third has no volume
    attributes()["WEIGHTS_0"] = add("VEC4", 4, Numbers::f32, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
    EXPECT_EQ(load().triangles.at(0).a, (Point{1, 0, 0}));
}

TEST_F(PosedTriangle, WeightsThatDoNotAddUpAreNamed) {
    const auto place = [&](std::vector<double> third) {
        std::vector<double> weights = {1, 0, 0, 0, 1, 0, 0, 0};
        weights.insert(weights.end(), third.begin(), third.end());
        attributes()["WEIGHTS_0"] = add("VEC4", 4, Numbers::f32, weights);
        return load();
    };
    EXPECT_TRUE(place({0.505, 0.5, 0, 0}).notes.empty()); // as quantised ones are
    const Scene half = place({0.25, 0.25, 0, 0});
    EXPECT_TRUE(has_note(half, "weights of joints that do not add up to 1"));
    EXPECT_EQ(half.triangles.at(0).c, (Point{-0.5, 1, 2}));
    const Scene none = place({0, 0, 0, 0});
    EXPECT_TRUE(has_note(none, "weights of joints that add up to 0"));
    EXPECT_EQ(none.triangles.at(0).c, (Point{0, 1, 0}));
    const Scene below = place({1.5, -0.5, 0, 0});
    EXPECT_TRUE(has_note(below, "weights of joints below 0"));
    EXPECT_EQ(below.triangles.at(0).c, (Point{0.5, 1, 0}));
    attributes()["WEIGHTS_0"] = add("VEC4", 4, Numbers::f32, {1, 0, 0, 0, 1, 0, 0, 0, std::nan(""), 1, 0, 0});
    expect_refused("vertex 2: is not finite");
}

TEST_F(PosedTriangle, WithoutJointsItStandsWhereItsNodeDoes) {
    attributes().erase("JOINTS_0");
    expect_refused("has no JOINTS_0");
    attributes().erase("WEIGHTS_0");
    const Scene scene = load();
    EXPECT_TRUE(has_note(scene, "the skin of mesh 0, primitive 0, which has no joints"));
    EXPECT_EQ(scene.triangles.at(0).a, (Point{49, 0, 0})); // mirrored
    EXPECT_EQ(scene.triangles.at(0).b, (Point{50, 0, 0}));
}

TEST_F(PosedTriangle, JointsWithoutASkinAreNotRead) {
    writer.json["nodes"][0].erase("skin");
    attributes()["JOINTS_0"] = 99;
    const Scene scene = load();
    EXPECT_TRUE(scene.notes.empty());
    EXPECT_EQ(scene.triangles.at(0).b, (Point{50, 0, 0}));
}

TEST_F(PosedTriangle, DamagedJointsAndWeightsAreRefused) {
    const Json whole = writer.json;
    const auto refused = [&](const std::function<void()>& damage, const char* word) {
        writer.json = whole;
        damage();
        expect_refused(word);
    };
    refused([&] { attributes().erase("WEIGHTS_0"); }, "has no WEIGHTS_0");
    refused([&] { attributes()["JOINTS_1"] = attributes()["JOINTS_0"]; }, "has no WEIGHTS_1");
    refused([&] { attributes()["WEIGHTS_2"] = attributes()["WEIGHTS_0"]; }, "has no JOINTS_1");
    refused([&] { attributes()["JOINTS_0"] = 99; }, "names 99");
    refused([&] { attributes()["JOINTS_0"] = attributes()["WEIGHTS_0"]; }, "without unsigned integers");
    refused([&] { attributes()["WEIGHTS_0"] = attributes()["JOINTS_0"]; }, "without floats");
    refused([&] { attributes()["JOINTS_0"] = attributes()["POSITION"]; }, "that are not four");
    refused(
        [&] {
            attributes()["JOINTS_0"] = add("VEC4", 4, Numbers::u8, {0, 0, 0, 0});
        },
        "1 elements of JOINTS_0");
    refused(
        [&] {
            attributes()["JOINTS_0"] = add("VEC4", 4, Numbers::u16, {0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0});
        },
        "vertex 1 names joint 2 of 2");
    refused([&] { attributes()["WEIGHTS_0"] = add("VEC4", 4, Numbers::u8, std::vector<double>(12, 9)); },
            "without floats");
}

TEST_F(PosedTriangle, DamagedSkinsAreRefused) {
    const Json whole = writer.json;
    const auto refused = [&](const std::function<void(Json&)>& damage, const char* word) {
        writer.json = whole;
        damage(writer.json["skins"][0]);
        expect_refused(word);
    };
    refused([](Json& skin) { skin.erase("joints"); }, "skin 0 has no joints");
    refused([](Json& skin) { skin["joints"] = Json::array(); }, "skin 0 has no joints");
    refused([](Json& skin) { skin["joints"] = 1; }, "is no list");
    refused([](Json& skin) { skin["joints"] = {1, 4}; }, "none of the 4 nodes");
    refused([](Json& skin) { skin["joints"] = {1, -1}; }, "none of the 4 nodes");
    refused([](Json& skin) { skin["joints"] = {1, "x"}; }, "none of the 4 nodes");
    refused([](Json& skin) { skin["joints"] = {1, 3, 2}; }, "2 inverse bind matrices for 3 joints");
    refused([](Json& skin) { skin["inverseBindMatrices"] = 77; }, "names 77");
    refused([](Json& skin) { skin["inverseBindMatrices"] = 0; }, "not four by four floats");
    refused([&](Json&) { writer.json["nodes"][0]["skin"] = 1; }, "names 1 of 1 skins");
    const std::size_t flat = add("MAT4", 16, Numbers::f32, std::vector<double>(32, 0.5));
    Json& grown = writer.json;
    const Json accessors = grown["accessors"], views = grown["bufferViews"];
    refused(
        [&](Json& skin) {
            writer.json["accessors"] = accessors;
            writer.json["bufferViews"] = views;
            skin["inverseBindMatrices"] = flat;
        },
        "that is not affine");
}

TEST_F(PosedTriangle, NodesThatAreTheirOwnAncestorsAreRefused) {
    writer.json["nodes"][3]["children"] = {2};
    expect_refused("own ancestor");
    writer.json["nodes"][3]["children"] = {3};
    expect_refused("own ancestor");
    writer.json["nodes"][3].erase("children");
    writer.json["nodes"][1]["children"] = {3}; // two parents
    expect_refused("own ancestor");
    writer.json["nodes"][1]["children"] = {99, "x"}; // of no joint
    EXPECT_EQ(load().triangles.size(), 1u);
}

TEST_F(PosedTriangle, JointsStandAsDeepAsTheFileSays) {
    constexpr std::size_t depth = 100000;
    Json& nodes = writer.json["nodes"];
    nodes[3]["children"] = {4};
    for (std::size_t i = 4; i < depth; ++i) nodes.push_back({{"children", {i + 1}}});
    nodes.push_back({{"translation", {0, 0, 1}}});
    writer.json["skins"][0]["joints"] = {1, depth};
    EXPECT_EQ(load().triangles.at(0).b, (Point{0, 0, 4}));
}

TEST_F(PosedTriangle, JointsFarAwayAreRefused) {
    writer.json["nodes"][1]["scale"] = {1e30, 1e30, 1e30};
    writer.json["nodes"][1]["translation"] = {1e30, 1e30, 9e29};
    EXPECT_EQ(load().triangles.size(), 1u);
    writer.json["nodes"][1]["children"] = {2};
    writer.json["nodes"][2]["translation"] = {1, 0, 0};
    expect_refused("farther than 1e30");
}

} // namespace
} // namespace path_tracer::test
