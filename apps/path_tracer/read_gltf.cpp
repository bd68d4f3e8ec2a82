// apps/path_tracer/read_gltf.cpp - glTF 2.0: nodes, triangles, cameras.
#include "corner_shading.hpp"
#include "gltf_draco.hpp"
#include "gltf_extensions.hpp"
#include "gltf_file.hpp"
#include "gltf_instances.hpp"
#include "gltf_lights.hpp"
#include "gltf_materials.hpp"
#include "gltf_pose.hpp"
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
        add_meshes();
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
            const Transform world = parent.after(transform_of(file_, node));
            show(node, world);
            add(nodes_in(node, "children", "node with a child"), world);
        }
    }

    void show(const Json& node, const Transform& world) {
        name_extensions(node, not_shown_);
        if (const auto mesh = file_.reference(node, "mesh", "meshes")) {
            GltfPose pose = pose_of(file_, node, file_.list("meshes")[*mesh], world);
            for (const Transform& place : gltf_places(file_, node, pose, not_shown_)) {
                pose.world = place;
                shown_.push_back({*mesh, pose});
            }
        }
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

    // ---- triangles

    /// What of a mesh is added to the triangles of the scene.
    enum class Part : std::uint8_t { all, lamps, all_but_lamps };

    /// Most meshes as triangles of the scene. Those that would take much room so are added once, as
    /// instances, but for what shines, which shadow rays have to find.
    void add_meshes() {
        scene_.shown_instances = repetitions_in(shown_);
        const std::vector<bool> is_kept = kept_as_instances(file_, shown_);
        for (std::size_t i = 0; i < shown_.size(); ++i)
            if (!is_kept[i]) add_mesh(shown_[i].mesh, shown_[i].pose, Part::all);
        std::map<std::size_t, bool> has_lamps; // meshes that are kept
        for (std::size_t i = 0; i < shown_.size(); ++i) {
            if (!is_kept[i]) continue;
            const auto [lamps, is_new] = has_lamps.try_emplace(shown_[i].mesh, true);
            if (!lamps->second) continue;
            const std::size_t before = scene_.triangles.size();
            add_mesh(shown_[i].mesh, shown_[i].pose, Part::lamps);
            lamps->second = scene_.triangles.size() > before;
        }
        for (std::size_t i = 0; i < shown_.size(); ++i)
            if (is_kept[i]) add_instance(shown_[i].mesh, shown_[i].pose.world);
    }

    void add_instance(std::size_t mesh, const Transform& place) {
        const auto [number, is_new] = numbers_.try_emplace(mesh, static_cast<uint32_t>(scene_.meshes.size()));
        if (is_new) {
            const std::size_t first = scene_.triangles.size();
            add_mesh(mesh, GltfPose{}, Part::all_but_lamps);
            scene_.meshes.push_back({first, scene_.triangles.size() - first});
            boxes_.push_back(surroundings_of(scene_, scene_.meshes.back()));
        }
        if (scene_.meshes[number->second].count == 0) return; // it has lamps alone
        if (!lies_within(boxes_[number->second], place, farthest_coordinate))
            file_.refuse("mesh " + std::to_string(mesh) +
                         " has an instance that is not finite or farther than 1e30 from the origin; "
                         "scale the scene down");
        scene_.instances.push_back({number->second, place});
    }

    void add_mesh(std::size_t mesh, const GltfPose& pose, Part part) {
        std::size_t number = 0;
        for (const Json& primitive : file_.list(file_.list("meshes")[mesh], "primitives"))
            add_primitive("mesh " + std::to_string(mesh) + ", primitive " + std::to_string(number++),
                          primitive, pose, part);
        name_extensions(file_.list("meshes")[mesh], not_shown_);
    }

    void add_primitive(const std::string& which, const Json& primitive, const GltfPose& pose, Part part) {
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
        const FindAttribute find = [&](const Json& among, const std::string& name, const auto& types,
                                       const std::string& of) {
            const bool is_of_target = &among != &*attributes; // which no extension compresses
            return of_vertices(name.c_str(), types, among, positions.count(), of,
                               is_of_target ? std::nullopt : draco);
        };
        const MorphTargets targets(file_, primitive, pose, which, find);
        VertexTransforms transforms(file_, joints_, pose, *attributes, which, find, not_shown_);
        const MorphedAttribute at_rest = targets.of("POSITION", &positions, {"VEC3"}),
                               directions = targets.of("NORMAL", normals, {"VEC3"}),
                               tints = targets.of("COLOR_0", colours, {"VEC3", "VEC4"});
        const auto vertex_at = [&](std::uint64_t i) {
            const std::uint64_t vertex = indices != nullptr ? indices->index(i) : i;
            if (vertex >= positions.count())
                file_.refuse(which + ": index " + std::to_string(i) + " names vertex " +
                             std::to_string(vertex) + " of " + std::to_string(positions.count()) +
                             " (they count from 0); export it again");
            return vertex;
        };
        const auto corner = [&](std::uint64_t vertex) {
            const Point at = transforms.of(vertex)(at_rest.point(vertex));
            if (!(largest_part(at) <= farthest_coordinate))
                file_.refuse(which + ", vertex " + std::to_string(vertex) +
                             ": is not finite or farther than 1e30 from the origin; scale the scene down");
            return at;
        };
        if (count < 3) return;
        const uint32_t material = materials_.of(primitive, colours, sets_in(*attributes));
        const bool is_lamp = !is_black(scene_.materials[material].emission);
        if (part != Part::all && is_lamp != (part == Part::lamps)) return;
        if (scene_.materials[material].textures.normal && attributes->contains("TANGENT"))
            not_shown_.add("tangents of vertices (those of the texture's axes stand in)");
        std::vector<MorphedAttribute> places; // of each set that the material uses
        for (const auto* use : scene_.materials[material].textures.all())
            while (*use && places.size() <= (*use)->set) {
                const std::string name = name_of_set(places.size());
                places.push_back(targets.of(name, find(*attributes, name, {"VEC2"}, which), {"VEC2"}));
            }
        if (mode == triangles && count % 3 != 0)
            note_once(which + " ends within a triangle, which is left out");
        const std::uint64_t step = mode == triangles ? 3 : 1;
        for (std::uint64_t i = 0; i + 3 <= count; i += step) {
            const bool is_turned = mode == strip && i % 2 == 1;
            std::array<std::uint64_t, 3> vertices = {vertex_at(mode == fan ? 0 : i), vertex_at(i + 1),
                                                     vertex_at(i + 2)};
            if (is_turned != transforms.mirrors(vertices))
                std::swap(vertices[0], vertices[1]); // the outside stays outside
            const std::array<Point, 3> corners = {corner(vertices[0]), corner(vertices[1]),
                                                  corner(vertices[2])};
            std::array<Point, 3> corner_normals{};
            std::array<CornerColour, 3> corner_colours{};
            std::vector<TexturePoint> corner_places;
            for (std::size_t k = 0; k < vertices.size(); ++k) {
                if (directions) {
                    corner_normals[k] = transforms.of(vertices[k]).normal(directions.point(vertices[k]));
                    if (!is_direction(corner_normals[k])) not_shown_.add(bad_normals);
                }
                if (tints) corner_colours[k] = colour_of(tints, vertices[k]);
            }
            for (const MorphedAttribute& set : places)
                for (const std::uint64_t vertex : vertices)
                    corner_places.push_back(place_of(set.numbers(vertex)));
            Polygon polygon{corners};
            if (directions) polygon.normals = corner_normals;
            if (tints) polygon.colours = corner_colours;
            polygon.places = corner_places;
            add_polygon(scene_, polygon, material);
        }
    }

    /// A mesh may be added in many places.
    void note_once(const std::string& note) {
        if (std::find(scene_.notes.begin(), scene_.notes.end(), note) == scene_.notes.end())
            scene_.notes.push_back(note);
    }

    [[nodiscard]] CornerColour colour_of(const MorphedAttribute& colours, std::uint64_t vertex) {
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
    GltfJoints joints_{file_};
    GltfDraco draco_{file_};
    Scene scene_;
    NotShown not_shown_;
    GltfMaterials materials_;
    std::vector<ShownMesh> shown_;            ///< in the order of the file
    std::map<std::size_t, uint32_t> numbers_; ///< of the scene's meshes, by their numbers in the file
    std::vector<Surroundings> boxes_;         ///< of the scene's meshes
    std::string camera_fault_;                ///< why a camera is left out
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
