// apps/path_tracer/read_gltf.cpp - glTF 2.0: nodes, triangles, materials, the camera.
#include "corner_shading.hpp"
#include "gltf_file.hpp"
#include "scene_readers.hpp"
#include "text_lines.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

namespace path_tracer {
namespace {

/// Extensions that the reader does all of.
constexpr std::array<std::string_view, 4> known_extensions = {"KHR_materials_emissive_strength",
                                                              "KHR_materials_transmission",
                                                              "KHR_materials_ior", "KHR_mesh_quantization"};

bool is_known(std::string_view extension) {
    return std::find(known_extensions.begin(), known_extensions.end(), extension) != known_extensions.end();
}

class GltfReader {
public:
    GltfReader(const SceneFiles& files, std::string_view bytes, float albedo)
        : path_(files.scene()), file_(files, bytes), albedo_(albedo) {}

    Scene run() {
        check_required_extensions();
        name_extensions(file_.root());
        for (const Json& extension : file_.list("extensionsUsed"))
            if (extension.is_string()) name_extension(extension.get<std::string>());
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
    // ---- what is not shown

    void check_required_extensions() const {
        for (const Json& required : file_.list("extensionsRequired")) {
            const std::string name = required.is_string() ? required.get<std::string>() : std::string();
            if (!is_known(name))
                file_.refuse("requires the extension \"" + excerpt(name) +
                             "\", which is not known here; export it without");
        }
    }
    void name_extension(const std::string& name) {
        // What is compressed has plain numbers beside it, or is refused where it is used.
        const bool is_compression = name == "KHR_draco_mesh_compression" || name == "EXT_meshopt_compression";
        if (is_known(name) || is_compression) return;
        if (name == "KHR_lights_punctual")
            not_shown_.add("lights (KHR_lights_punctual)");
        else
            not_shown_.add("extension " + excerpt(name));
    }
    void name_extensions(const Json& object) {
        const auto extensions = object.find("extensions");
        if (extensions == object.end() || !extensions->is_object()) return;
        for (const auto& [name, ignored] : extensions->items()) name_extension(name);
    }
    /// The extension of an object; null if it has none of this name.
    static const Json* extension(const Json& object, const char* name) {
        const auto extensions = object.find("extensions");
        if (extensions == object.end() || !extensions->is_object()) return nullptr;
        const auto found = extensions->find(name);
        return found == extensions->end() || !found->is_object() ? nullptr : &*found;
    }

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
        name_extensions(node);
        if (node.contains("skin")) not_shown_.add("skins");
        if (const auto mesh = file_.reference(node, "mesh", "meshes")) add_mesh(*mesh, world);
        const auto camera = file_.reference(node, "camera", "cameras");
        if (!camera) return;
        const Json& description = file_.list("cameras")[*camera];
        const auto perspective = description.find("perspective");
        if (perspective == description.end()) {
            camera_fault_ = "is not a perspective one";
            return;
        }
        const double fov = file_.number(*perspective, "yfov", 0) * 180 / std::numbers::pi;
        if (!(fov > 0 && fov < 180)) {
            camera_fault_ = "has an angle that is not between 0 and 180 degrees";
            return;
        }
        const std::string name = file_.text(node, "name");
        scene_.cameras.push_back(
            {excerpt(name.empty() ? file_.text(description, "name") : name),
             {world({0, 0, 0}), world({0, 0, -1}), static_cast<float>(fov), world.turned({0, 1, 0})}});
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
        name_extensions(file_.list("meshes")[mesh]);
    }

    void add_primitive(const std::string& which, const Json& primitive, const Transform& world) {
        constexpr std::uint64_t triangles = 4, strip = 5, fan = 6;
        name_extensions(primitive);
        const std::uint64_t mode = file_.size(primitive, "mode", triangles);
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
        if (is_compressed && !file_.list("accessors")[*position].contains("bufferView"))
            file_.refuse(which +
                         " is compressed with Draco alone, which is not read; export it uncompressed");

        const GltfAccessor& positions = accessor(*position, "VEC3", which + " (POSITION)");
        const GltfAccessor* const normals = of_vertices("NORMAL", *attributes, positions.count(), which);
        const GltfAccessor* const colours = of_vertices("COLOR_0", *attributes, positions.count(), which);
        const auto index = file_.reference(primitive, "indices", "accessors");
        const GltfAccessor* const indices = index ? &accessor(*index, "SCALAR", which) : nullptr;
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
        const uint32_t material = material_of(primitive, colours != nullptr);
        if (mode == triangles && count % 3 != 0)
            scene_.notes.push_back(which + " ends within a triangle, which is left out");
        const std::uint64_t step = mode == triangles ? 3 : 1;
        for (std::uint64_t i = 0; i + 3 <= count; i += step) {
            const bool is_turned = mode == strip && i % 2 == 1;
            std::array<std::uint64_t, 3> places = {mode == fan ? 0 : i, i + 1, i + 2};
            if (is_turned != world.mirrors()) std::swap(places[0], places[1]); // the outside stays outside
            const std::array<Point, 3> corners = {corner(places[0]), corner(places[1]), corner(places[2])};
            std::array<Point, 3> corner_normals{};
            std::array<Rgb, 3> corner_colours{};
            for (std::size_t k = 0; k < places.size(); ++k) {
                if (normals != nullptr) {
                    corner_normals[k] = world.normal(normals->point(vertex_at(places[k])));
                    if (!is_direction(corner_normals[k])) not_shown_.add(bad_normals);
                }
                if (colours != nullptr) corner_colours[k] = colour_of(colours->point(vertex_at(places[k])));
            }
            Polygon polygon{corners};
            if (normals != nullptr) polygon.normals = corner_normals;
            if (colours != nullptr) polygon.colours = corner_colours;
            add_polygon(scene_, polygon, material);
        }
    }

    [[nodiscard]] Rgb colour_of(Point linear) {
        const auto is_fraction = [](double part) { return part >= 0 && part <= 1; };
        if (is_fraction(linear.x) && is_fraction(linear.y) && is_fraction(linear.z)) {
            const Float3 colour = rounded(linear);
            return {colour.x, colour.y, colour.z};
        }
        not_shown_.add(bad_colours);
        return {1, 1, 1};
    }

    /// An attribute of all vertices: three numbers each, or four. Null: the primitive has none.
    const GltfAccessor* of_vertices(const char* attribute, const Json& attributes, std::uint64_t vertices,
                                    const std::string& which) {
        const auto index = file_.reference(attributes, attribute, "accessors");
        if (!index) return nullptr;
        const bool has_four = attribute == std::string_view("COLOR_0") &&
                              file_.text(file_.list("accessors")[*index], "type") == "VEC4";
        const GltfAccessor& found =
            accessor(*index, has_four ? "VEC4" : "VEC3", which + " (" + attribute + ")");
        if (found.count() < vertices)
            file_.refuse(which + " has " + std::to_string(found.count()) + " elements of " + attribute +
                         " for " + std::to_string(vertices) + " vertices; export it again");
        return &found;
    }

    /// Read once, however many nodes show it.
    const GltfAccessor& accessor(std::size_t index, std::string_view type, const std::string& of) {
        const auto key = std::pair(index, type);
        const auto known = accessors_.find(key);
        if (known != accessors_.end()) return known->second;
        return accessors_.emplace(key, file_.accessor(index, type, of)).first->second;
    }

    // ---- materials

    /// `has_colours`: its vertices do, which then stand in for a material that there is not.
    uint32_t material_of(const Json& primitive, bool has_colours) {
        const auto number = file_.reference(primitive, "material", "materials");
        const std::pair key(number, has_colours && !number);
        const auto known = materials_.find(key);
        if (known != materials_.end()) return known->second;
        uint32_t material;
        if (number) {
            const Json& json = file_.list("materials")[*number];
            material = add_material(scene_, path_, excerpt(file_.text(json, "name")), surface_of(json));
        } else {
            material = add_material(scene_, path_, "", grey(has_colours ? 1 : albedo_));
        }
        materials_.emplace(key, material);
        return material;
    }

    /// Whether there is a texture of this name: its factor alone means nothing then.
    bool has_texture(const Json& object, const char* name) {
        if (!object.contains(name)) return false;
        const bool is_colour =
            std::string_view(name) == "baseColorTexture" || std::string_view(name) == "diffuseTexture";
        not_shown_.add(std::string("textures (") + name + (is_colour ? "; --albedo stands in)" : ")"));
        return true;
    }

    SurfaceDescription surface_of(const Json& material) {
        name_extensions(material);
        for (const char* name : {"normalTexture", "occlusionTexture"})
            static_cast<void>(has_texture(material, name));
        const std::string alpha = file_.text(material, "alphaMode");
        if (!alpha.empty() && alpha != "OPAQUE") not_shown_.add("alpha mode " + excerpt(alpha));

        static const Json nothing = Json::object();
        const auto found = material.find("pbrMetallicRoughness");
        const Json& pbr = found == material.end() ? nothing : *found;
        if (!pbr.is_object()) file_.refuse("has a material that is no object; export it again");
        std::array<double, 4> base{1, 1, 1, 1};
        file_.numbers(pbr, "baseColorFactor", base);
        bool is_base_unknown = has_texture(pbr, "baseColorTexture");
        const double metal_factor = file_.number(pbr, "metallicFactor", 1);
        double metallic = has_texture(pbr, "metallicRoughnessTexture") ? 0 : metal_factor;
        const Json* const old = extension(material, "KHR_materials_pbrSpecularGlossiness");
        if (old != nullptr && found == material.end()) { // else the file says what stands in for it
            file_.numbers(*old, "diffuseFactor", base);
            is_base_unknown = has_texture(*old, "diffuseTexture");
            metallic = 0;
        }
        Rgb colour{static_cast<float>(base[0]), static_cast<float>(base[1]), static_cast<float>(base[2])};
        if (is_base_unknown) colour = {albedo_, albedo_, albedo_};

        double transmission = 0, strength = 1;
        SurfaceDescription surface;
        if (const Json* const through = extension(material, "KHR_materials_transmission")) {
            transmission = file_.number(*through, "transmissionFactor", 0);
            if (has_texture(*through, "transmissionTexture")) transmission = 0;
        }
        if (const Json* const refraction = extension(material, "KHR_materials_ior"))
            surface.ior = static_cast<float>(file_.number(*refraction, "ior", 1.5));
        if (const Json* const emissive = extension(material, "KHR_materials_emissive_strength"))
            strength = file_.number(*emissive, "emissiveStrength", 1);
        std::array<double, 3> emission{0, 0, 0};
        file_.numbers(material, "emissiveFactor", emission);
        if (has_texture(material, "emissiveTexture")) strength = 0;
        for (const double share : {metallic, transmission})
            if (!(share >= 0 && share <= 1))
                file_.refuse("material \"" + excerpt(file_.text(material, "name")) +
                             "\": a factor is not between 0 and 1; mend the material");
        surface.mirror = colour * static_cast<float>(metallic);
        surface.glass = colour * static_cast<float>((1 - metallic) * transmission);
        surface.diffuse = colour * static_cast<float>((1 - metallic) * (1 - transmission));
        surface.emission = {static_cast<float>(emission[0] * strength),
                            static_cast<float>(emission[1] * strength),
                            static_cast<float>(emission[2] * strength)};
        return surface;
    }

    const std::filesystem::path& path_;
    GltfFile file_;
    float albedo_;
    Scene scene_;
    NotShown not_shown_;
    std::string camera_fault_; ///< why a camera is left out
    std::map<std::pair<std::optional<std::size_t>, bool>, uint32_t> materials_;
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
