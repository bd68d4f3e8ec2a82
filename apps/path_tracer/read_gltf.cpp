// apps/path_tracer/read_gltf.cpp - glTF 2.0: nodes, triangles, cameras.
#include "corner_shading.hpp"
#include "gltf_draco.hpp"
#include "gltf_extensions.hpp"
#include "gltf_file.hpp"
#include "gltf_lights.hpp"
#include "gltf_materials.hpp"
#include "scene_readers.hpp"
#include "text_lines.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numbers>
#include <span>
#include <tuple>
#include <utility>

namespace path_tracer {
namespace {

class GltfReader {
public:
    GltfReader(const SceneFiles& files, std::string_view bytes, float albedo)
        : file_(files, bytes), materials_(files, file_, scene_, not_shown_, albedo) {}

    Scene run() {
        check_required_extensions(file_);
        name_extensions(file_.root(), not_shown_);
        for (const Json& extension : file_.list("extensionsUsed"))
            if (extension.is_string()) name_extension(extension.get<std::string>(), not_shown_);
        if (!file_.list("animations").empty()) not_shown_.add("animations");
        if (file_.list("scenes").size() > 1) not_shown_.add("scenes other than the first one shown");
        walk();
        if (scene_.cameras.empty() && !camera_fault_.empty())
            scene_.notes.push_back("the scene's camera " + camera_fault_ + " and is left out");
        for (const std::string& buffer : file_.unread_buffers())
            scene_.notes.push_back(buffer + " is used by nothing that is shown, and was not read");
        not_shown_.report_to(scene_);
        return std::move(scene_);
    }

private:
    // ---- nodes

    struct Visit {
        std::size_t node;
        Transform parent;
    };

    std::vector<std::size_t> nodes_in(const Json& object, const char* key, const char* what) const {
        std::vector<std::size_t> nodes;
        const std::size_t count = file_.list("nodes").size();
        for (const Json& node : file_.list(object, key)) {
            if (!node.is_number_unsigned() || node.get<std::uint64_t>() >= count)
                file_.refuse(std::string("has a ") + what + " that is none of its " + std::to_string(count) +
                             " nodes; export it again");
            nodes.push_back(node.get<std::size_t>());
        }
        return nodes;
    }

    /// Roots of the scene to show: the first if the file names none.
    std::vector<std::size_t> roots() const {
        const std::size_t shown = file_.reference(file_.root(), "scene", "scenes").value_or(0);
        if (!file_.list("scenes").empty())
            return nodes_in(file_.list("scenes")[shown], "nodes", "scene with a node");
        std::vector<bool> is_child(file_.list("nodes").size());
        for (const Json& node : file_.list("nodes"))
            for (const std::size_t child : nodes_in(node, "children", "node with a child"))
                is_child[child] = true;
        std::vector<std::size_t> roots;
        for (std::size_t i = 0; i < is_child.size(); ++i)
            if (!is_child[i]) roots.push_back(i);
        return roots;
    }

    /// Parents first, in the order of the file. Not by recursion: a file may nest nodes deeper than a stack
    /// is.
    void walk() {
        std::vector<Visit> left;
        const auto add = [&left](const std::vector<std::size_t>& nodes, const Transform& parent) {
            for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) left.push_back({*node, parent});
        };
        add(roots(), Transform{});
        std::vector<bool> was_visited(file_.list("nodes").size());
        while (!left.empty()) {
            const auto [number, parent] = left.back();
            left.pop_back();
            if (was_visited[number])
                file_.refuse("has node " + std::to_string(number) +
                             " twice in its tree, or as its own ancestor; export it again");
            was_visited[number] = true;
            const Json& node = file_.list("nodes")[number];
            const Transform world = parent.after(transform(node));
            show(node, world);
            add(nodes_in(node, "children", "node with a child"), world);
        }
    }

    void show(const Json& node, const Transform& world) {
        name_extensions(node, not_shown_);
        if (node.contains("skin")) not_shown_.add("skins");
        if (const auto mesh = file_.reference(node, "mesh", "meshes")) add_mesh(*mesh, world);
        add_light(file_, node, world, scene_);
        const auto camera = file_.reference(node, "camera", "cameras");
        if (!camera) return;
        const Json& description = file_.list("cameras")[*camera];
        CameraPose pose{world({0, 0, 0}), world({0, 0, -1}), 45, world.turned({0, 1, 0})};
        if (const auto found = description.find("orthographic"); found != description.end()) {
            pose.orthographic_height = 2 * file_.number(*found, "ymag", 0);
            if (!(pose.orthographic_height > 0 && pose.orthographic_height <= farthest_coordinate)) {
                camera_fault_ = "has a height that is not above 0";
                return;
            }
        } else if (const auto lens = description.find("perspective"); lens != description.end()) {
            const double fov = file_.number(*lens, "yfov", 0) * 180 / std::numbers::pi;
            if (!(fov > 0 && fov < 180)) {
                camera_fault_ = "has an angle that is not between 0 and 180 degrees";
                return;
            }
            pose.vertical_fov_degrees = static_cast<float>(fov);
        } else {
            camera_fault_ = "is neither perspective nor orthographic";
            return;
        }
        const std::string name = file_.text(node, "name");
        scene_.cameras.push_back({excerpt(name.empty() ? file_.text(description, "name") : name), pose});
    }

    [[nodiscard]] Transform transform(const Json& node) const {
        if (node.contains("matrix")) {
            std::array<double, 16> m{}; // column by column
            file_.numbers(node, "matrix", m);
            if (m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1)
                file_.refuse("has a node whose matrix is not affine; export it again");
            return {{Point{m[0], m[1], m[2]}, Point{m[4], m[5], m[6]}, Point{m[8], m[9], m[10]}},
                    {m[12], m[13], m[14]}};
        }
        std::array<double, 3> shift{0, 0, 0}, scale{1, 1, 1};
        std::array<double, 4> turn{0, 0, 0, 1}; // a unit quaternion, but for what rounding made of it
        file_.numbers(node, "translation", shift);
        file_.numbers(node, "rotation", turn);
        file_.numbers(node, "scale", scale);
        const double size = std::hypot(std::hypot(turn[0], turn[1]), std::hypot(turn[2], turn[3]));
        if (!(size > 1e-3)) file_.refuse("has a node whose rotation is no quaternion; export it again");
        const double x = turn[0] / size, y = turn[1] / size, z = turn[2] / size, w = turn[3] / size;
        return {{Point{1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)} * scale[0],
                 Point{2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)} * scale[1],
                 Point{2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)} * scale[2]},
                {shift[0], shift[1], shift[2]}};
    }

    // ---- triangles

    void add_mesh(std::size_t mesh, const Transform& world) {
        std::size_t number = 0;
        for (const Json& primitive : file_.list(file_.list("meshes")[mesh], "primitives"))
            add_primitive("mesh " + std::to_string(mesh) + ", primitive " + std::to_string(number++),
                          primitive, world);
        name_extensions(file_.list("meshes")[mesh], not_shown_);
    }

    void add_primitive(const std::string& which, const Json& primitive, const Transform& world) {
        constexpr std::uint64_t triangles = 4, strip = 5, fan = 6;
        name_extensions(primitive, not_shown_);
        std::uint64_t mode = file_.size(primitive, "mode", triangles);
        if (mode < triangles) return not_shown_.add("points and lines");
        if (mode > fan) file_.refuse(which + " has the mode " + std::to_string(mode) + "; export it again");
        const auto attributes = primitive.find("attributes");
        const auto position = attributes == primitive.end()
                                  ? std::nullopt
                                  : file_.reference(*attributes, "POSITION", "accessors");
        if (!position) return not_shown_.add(which + ", which has no positions");
        for (const auto& [name, ignored] : attributes->items())
            if (name.starts_with("COLOR_") && name != "COLOR_0")
                not_shown_.add("vertex colours but the first");
        if (!file_.list(primitive, "targets").empty()) not_shown_.add("morph targets");
        const bool is_compressed = extension(primitive, "KHR_draco_mesh_compression") != nullptr;
        if (is_compressed && !reads_draco() && !file_.list("accessors")[*position].contains("bufferView"))
            file_.refuse(which + " is compressed with Draco alone, which this program was built without; "
                                 "export it uncompressed, or build with libdraco-dev");

        const auto draco = draco_.primitive(primitive, which);
        if (draco) mode = triangles;
        const GltfAccessor& positions = accessor(*position, "VEC3", which + " (POSITION)", draco, "POSITION");
        const GltfAccessor* const normals =
            of_vertices("NORMAL", {"VEC3"}, *attributes, positions.count(), which, draco);
        const GltfAccessor* const colours =
            of_vertices("COLOR_0", {"VEC3", "VEC4"}, *attributes, positions.count(), which, draco);
        const auto index = file_.reference(primitive, "indices", "accessors");
        const GltfAccessor* const indices = draco   ? draco->indices
                                            : index ? &accessor(*index, "SCALAR", which)
                                                    : nullptr;
        const std::uint64_t count = indices != nullptr ? indices->count() : positions.count();
        const auto vertex_at = [&](std::uint64_t i) { return indices != nullptr ? indices->index(i) : i; };
        const auto corner = [&](std::uint64_t i) {
            const std::uint64_t vertex = vertex_at(i);
            if (vertex >= positions.count())
                file_.refuse(which + ": index " + std::to_string(i) + " names vertex " +
                             std::to_string(vertex) + " of " + std::to_string(positions.count()) +
                             " (they count from 0); export it again");
            const Point at = world(positions.point(vertex));
            if (!(largest_part(at) <= farthest_coordinate))
                file_.refuse(which + ", vertex " + std::to_string(vertex) +
                             ": is not finite or farther than 1e30 from the origin; scale the scene down");
            return at;
        };
        if (count < 3) return;
        const uint32_t material = materials_.of(primitive, colours, sets_in(*attributes));
        if (scene_.materials[material].textures.normal && attributes->contains("TANGENT"))
            not_shown_.add("tangents of vertices (those of the texture's axes stand in)");
        std::vector<const GltfAccessor*> places; // of each set that the material uses
        for (const auto* use : scene_.materials[material].textures.all())
            while (*use && places.size() <= (*use)->set)
                places.push_back(of_vertices(name_of_set(places.size()).c_str(), {"VEC2"}, *attributes,
                                             positions.count(), which, draco));
        if (mode == triangles && count % 3 != 0)
            scene_.notes.push_back(which + " ends within a triangle, which is left out");
        const std::uint64_t step = mode == triangles ? 3 : 1;
        for (std::uint64_t i = 0; i + 3 <= count; i += step) {
            const bool is_turned = mode == strip && i % 2 == 1;
            std::array<std::uint64_t, 3> vertices = {mode == fan ? 0 : i, i + 1, i + 2};
            if (is_turned != world.mirrors())
                std::swap(vertices[0], vertices[1]); // the outside stays outside
            const std::array<Point, 3> corners = {corner(vertices[0]), corner(vertices[1]),
                                                  corner(vertices[2])};
            std::array<Point, 3> corner_normals{};
            std::array<CornerColour, 3> corner_colours{};
            std::vector<TexturePoint> corner_places;
            for (std::size_t k = 0; k < vertices.size(); ++k) {
                if (normals != nullptr) {
                    corner_normals[k] = world.normal(normals->point(vertex_at(vertices[k])));
                    if (!is_direction(corner_normals[k])) not_shown_.add(bad_normals);
                }
                if (colours != nullptr) corner_colours[k] = colour_of(*colours, vertex_at(vertices[k]));
            }
            for (const GltfAccessor* set : places)
                for (const std::uint64_t vertex : vertices)
                    corner_places.push_back(place_of(set->numbers(vertex_at(vertex))));
            Polygon polygon{corners};
            if (normals != nullptr) polygon.normals = corner_normals;
            if (colours != nullptr) polygon.colours = corner_colours;
            polygon.places = corner_places;
            add_polygon(scene_, polygon, material);
        }
    }

    [[nodiscard]] CornerColour colour_of(const GltfAccessor& colours, std::uint64_t vertex) {
        const std::array<double, 4> given = colours.numbers(vertex);
        const auto used = std::span(given).first(colours.size());
        if (std::all_of(used.begin(), used.end(), [](double part) { return part >= 0 && part <= 1; })) {
            const Float3 colour = rounded({given[0], given[1], given[2]});
            const bool has_opacity = colours.size() == 4;
            return {{colour.x, colour.y, colour.z}, has_opacity ? static_cast<float>(given[3]) : 1.0f};
        }
        not_shown_.add(bad_colours);
        return {};
    }

    [[nodiscard]] TexturePoint place_of(const std::array<double, 4>& uv) {
        const std::optional<TexturePoint> place = texture_point(uv[0], uv[1]);
        if (!place) not_shown_.add(bad_places);
        return place.value_or(TexturePoint{0, 0});
    }

    static std::string name_of_set(std::size_t set) { return "TEXCOORD_" + std::to_string(set); }

    /// How many sets of texture coordinates there are, from the first on without a gap.
    static std::size_t sets_in(const Json& attributes) {
        std::size_t sets = 0;
        while (attributes.contains(name_of_set(sets))) ++sets;
        return sets;
    }

    /// An attribute of all vertices, of one of these types. Null: the primitive has none.
    const GltfAccessor* of_vertices(const char* attribute, std::initializer_list<std::string_view> types,
                                    const Json& attributes, std::uint64_t vertices, const std::string& which,
                                    const std::optional<GltfDraco::Primitive>& draco) {
        const auto index = file_.reference(attributes, attribute, "accessors");
        if (!index) return nullptr;
        const std::string own = file_.text(file_.list("accessors")[*index], "type");
        const auto type = std::find(types.begin(), types.end(), own);
        const GltfAccessor& found = accessor(*index, type == types.end() ? *types.begin() : *type,
                                             which + " (" + attribute + ")", draco, attribute);
        if (found.count() < vertices)
            file_.refuse(which + " has " + std::to_string(found.count()) + " elements of " + attribute +
                         " for " + std::to_string(vertices) + " vertices; export it again");
        return &found;
    }

    /// Read once, however many nodes show it. `draco`: has the numbers if it has the attribute
    const GltfAccessor& accessor(std::size_t index, std::string_view type, const std::string& of,
                                 const std::optional<GltfDraco::Primitive>& draco = std::nullopt,
                                 const char* attribute = "") {
        if (draco)
            if (const GltfAccessor* found = draco_.attribute(*draco, attribute, index, type, of))
                return *found;
        const auto key = std::pair(index, type);
        const auto known = accessors_.find(key);
        if (known != accessors_.end()) return known->second;
        return accessors_.emplace(key, file_.accessor(index, type, of)).first->second;
    }

    GltfFile file_;
    GltfDraco draco_{file_};
    Scene scene_;
    NotShown not_shown_;
    GltfMaterials materials_;
    std::string camera_fault_; ///< why a camera is left out
    std::map<std::pair<std::size_t, std::string_view>, GltfAccessor> accessors_;
};

} // namespace

Scene read_gltf(const SceneFiles& files, std::string_view bytes, float albedo) {
    try {
        return GltfReader(files, bytes, albedo).run();
    } catch (const Json::exception&) { // a value of another type than the format says
        refuse_scene(files.scene(), "is JSON, but no glTF 2.0; export it again");
    }
}

} // namespace path_tracer
