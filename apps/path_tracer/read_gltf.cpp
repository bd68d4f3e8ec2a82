// apps/path_tracer/read_gltf.cpp - glTF 2.0: nodes, triangles, materials, the camera.
#include "corner_shading.hpp"
#include "gltf_file.hpp"
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

/// Extensions that the reader does all of.
constexpr std::array<std::string_view, 9> known_extensions = {
    "KHR_materials_clearcoat", "KHR_materials_emissive_strength", "KHR_materials_ior",
    "KHR_materials_sheen",     "KHR_materials_specular",          "KHR_materials_transmission",
    "KHR_materials_volume",    "KHR_mesh_quantization",           "KHR_texture_transform"};

bool is_known(std::string_view extension) {
    return std::find(known_extensions.begin(), known_extensions.end(), extension) != known_extensions.end();
}

class GltfReader {
public:
    GltfReader(const SceneFiles& files, std::string_view bytes, float albedo)
        : files_(files), path_(files.scene()), file_(files, bytes), albedo_(albedo) {}

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
        // What is shown of it depends on its textures, which are named by themselves.
        const bool is_shown_in_part = name == "KHR_materials_pbrSpecularGlossiness";
        if (is_known(name) || is_compression || is_shown_in_part) return;
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
        const GltfAccessor* const normals =
            of_vertices("NORMAL", {"VEC3"}, *attributes, positions.count(), which);
        const GltfAccessor* const colours =
            of_vertices("COLOR_0", {"VEC3", "VEC4"}, *attributes, positions.count(), which);
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
        const uint32_t material = material_of(primitive, colours, sets_in(*attributes));
        if (scene_.materials[material].textures.normal && attributes->contains("TANGENT"))
            not_shown_.add("tangents of vertices (those of the texture's axes stand in)");
        std::vector<const GltfAccessor*> places; // of each set that the material uses
        for (const auto* use : scene_.materials[material].textures.all())
            while (*use && places.size() <= (*use)->set)
                places.push_back(of_vertices(name_of_set(places.size()).c_str(), {"VEC2"}, *attributes,
                                             positions.count(), which));
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
                                    const Json& attributes, std::uint64_t vertices,
                                    const std::string& which) {
        const auto index = file_.reference(attributes, attribute, "accessors");
        if (!index) return nullptr;
        const std::string own = file_.text(file_.list("accessors")[*index], "type");
        const auto type = std::find(types.begin(), types.end(), own);
        const GltfAccessor& found =
            accessor(*index, type == types.end() ? *types.begin() : *type, which + " (" + attribute + ")");
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

    /// `colours`: of its vertices, or null; they stand in for a material that there is not. `sets`: of
    /// texture coordinates
    uint32_t material_of(const Json& primitive, const GltfAccessor* colours, std::size_t sets) {
        const auto number = file_.reference(primitive, "material", "materials");
        const bool has_colours = colours != nullptr && !number;
        const bool has_opacity = colours != nullptr && number && colours->size() == 4;
        const std::tuple key(number, has_colours, has_opacity, sets);
        const auto known = materials_.find(key);
        if (known != materials_.end()) return known->second;
        uint32_t material;
        if (number) {
            const Json& json = file_.list("materials")[*number];
            material = add_material(scene_, path_, excerpt(file_.text(json, "name")),
                                    surface_of(json, has_opacity, sets));
        } else {
            material = add_material(scene_, path_, "", grey(has_colours ? 1 : albedo_));
        }
        materials_.emplace(key, material);
        return material;
    }

    /// What an object says of one of its textures.
    struct NamedTexture {
        bool is_named = false;
        std::optional<TextureUse> use{};
        /// It cannot be shown, and its factor alone means nothing.
        [[nodiscard]] bool is_lost() const { return is_named && !use; }
    };

    NamedTexture texture_of(const Json& object, const char* name, TexelMeaning meaning, std::size_t sets) {
        const auto found = object.find(name);
        if (found == object.end()) return {};
        std::string fault;
        std::optional<TextureUse> use = texture_use(*found, meaning, sets, fault);
        if (!use) {
            not_shown_.add(
                std::string("textures (") + name + ", " + fault +
                (std::string_view(name) == "baseColorTexture" || std::string_view(name) == "diffuseTexture"
                     ? "; --albedo stands in)"
                     : ")"));
        }
        return {true, std::move(use)};
    }

    /// Nothing: `fault` says why.
    std::optional<TextureUse> texture_use(const Json& info, TexelMeaning meaning, std::size_t sets,
                                          std::string& fault) {
        const auto index = existing(info, "index", "textures");
        if (!index) return fault = "which is none of the file", std::nullopt;
        const Json& texture = file_.list("textures")[*index];
        const auto source = existing(texture, "source", "images");
        if (!source) return fault = "of a format that is not read", std::nullopt;
        TextureUse use{};
        const Json* const transform = extension(info, "KHR_texture_transform");
        std::uint64_t set = file_.size(info, "texCoord", 0);
        if (transform != nullptr) {
            use.transform = transform_of(*transform);
            set = file_.size(*transform, "texCoord", set);
        }
        if (set >= sets) return fault = "without texture coordinates", std::nullopt;
        use.set = static_cast<uint32_t>(set);
        if (const auto sampler = existing(texture, "sampler", "samplers")) {
            constexpr std::uint64_t nearest = 9728;
            const Json& habits = file_.list("samplers")[*sampler];
            use.wrap_u = wrap_of(habits, "wrapS");
            use.wrap_v = wrap_of(habits, "wrapT");
            use.is_pixelated = file_.size(habits, "magFilter", 0) == nearest;
        }
        const std::optional<uint32_t> image = image_of(*source, meaning, fault);
        if (!image) return std::nullopt;
        use.image = *image;
        return use;
    }

    /// The place in `name` that object[key] names, if there is such.
    [[nodiscard]] std::optional<std::size_t> existing(const Json& object, const char* key,
                                                      const char* name) const {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
        const auto index = found->get<std::uint64_t>();
        return index < file_.list(name).size() ? std::optional<std::size_t>(index) : std::nullopt;
    }

    [[nodiscard]] Wrap wrap_of(const Json& sampler, const char* key) const {
        constexpr std::uint64_t repeats = 10497, keeps_edge = 33071, mirrors = 33648;
        const std::uint64_t wrap = file_.size(sampler, key, repeats);
        return wrap == keeps_edge ? WRAP_KEEPS_EDGE : wrap == mirrors ? WRAP_MIRRORS : WRAP_REPEATS;
    }

    /// Shift x turn x scale, as the extension says it.
    [[nodiscard]] std::array<double, 6> transform_of(const Json& transform) {
        std::array<double, 2> shift{0, 0}, scale{1, 1};
        file_.numbers(transform, "offset", shift);
        file_.numbers(transform, "scale", scale);
        for (const double number : {shift[0], shift[1], scale[0], scale[1]})
            if (!(std::abs(number) <= farthest_texture_place)) {
                not_shown_.add(bad_transform);
                return TextureUse{}.transform;
            }
        const double turn = file_.number(transform, "rotation", 0), cosine = std::cos(turn),
                     sine = std::sin(turn);
        return {cosine * scale[0], sine * scale[1], shift[0], -sine * scale[0], cosine * scale[1], shift[1]};
    }

    /// The picture's place in the scene, read once for each meaning. Nothing: `fault` says why.
    std::optional<uint32_t> image_of(std::size_t index, TexelMeaning meaning, std::string& fault) {
        const std::pair key(index, meaning);
        const auto known = images_.find(key);
        if (known != images_.end()) {
            fault = known->second.fault;
            return known->second.place;
        }
        GltfFile::Image image = file_.image(index);
        ReadImage& read = images_[key];
        if (!image.fault.empty())
            read.fault = image.name + ' ' + image.fault;
        else if (!image.file.empty())
            read = add_image(scene_, files_, image.file, meaning);
        else
            read = add_image(scene_, image.name, std::move(image.bytes), meaning);
        fault = read.fault;
        return read.place;
    }

    [[noreturn]] void refuse_material(const Json& material, const char* what) const {
        file_.refuse("material \"" + excerpt(file_.text(material, "name")) + "\": " + what +
                     "; mend the material");
    }
    /// A number that has to be between 0 and 1.
    [[nodiscard]] float share_of(const Json& material, const Json& object, const char* key,
                                 double otherwise) const {
        const double share = file_.number(object, key, otherwise);
        if (!(share >= 0 && share <= 1)) refuse_material(material, "a factor is not between 0 and 1");
        return static_cast<float>(share);
    }
    [[nodiscard]] Rgb colour_of(const Json& object, const char* key, std::array<double, 3> otherwise) const {
        file_.numbers(object, key, otherwise);
        const Float3 colour = rounded({otherwise[0], otherwise[1], otherwise[2]});
        return {colour.x, colour.y, colour.z};
    }

    SurfaceDescription surface_of(const Json& material, bool has_opacity, std::size_t sets) {
        name_extensions(material);
        if (material.contains("occlusionTexture")) not_shown_.add("textures (occlusionTexture)");
        SurfaceDescription surface;
        const NamedTexture base = give_base(material, sets, surface);
        if (surface.metallic < 1 || surface.textures.metal) give_glass(material, sets, surface);
        give_coat(material, sets, surface);
        give_sheen(material, sets, surface);
        give_emission(material, sets, surface);
        surface.textures.normal =
            normals_of(material, material, "normalTexture", sets, surface.textures.normal_scale);
        give_opacity(material, base, has_opacity, surface);
        return surface;
    }

    /// Base colour, metal and the clear layer. Returns the texture of colour.
    NamedTexture give_base(const Json& material, std::size_t sets, SurfaceDescription& surface) {
        static const Json nothing = Json::object();
        const auto found = material.find("pbrMetallicRoughness");
        const Json& pbr = found == material.end() ? nothing : *found;
        if (!pbr.is_object()) file_.refuse("has a material that is no object; export it again");
        const Json* const old = extension(material, "KHR_materials_pbrSpecularGlossiness");
        const bool is_old =
            old != nullptr && found == material.end(); // else the file says what stands in for it
        std::array<double, 4> base{1, 1, 1, 1};
        file_.numbers(is_old ? *old : pbr, is_old ? "diffuseFactor" : "baseColorFactor", base);
        NamedTexture texture = texture_of(is_old ? *old : pbr, is_old ? "diffuseTexture" : "baseColorTexture",
                                          TexelMeaning::reflectance, sets);
        surface.base = {static_cast<float>(base[0]), static_cast<float>(base[1]),
                        static_cast<float>(base[2])};
        if (texture.is_lost()) surface.base = {albedo_, albedo_, albedo_};
        surface.opacity = static_cast<float>(base[3]);
        surface.textures.colour = texture.use;
        if (is_old) {
            give_old_highlight(material, *old, surface);
            return texture;
        }
        surface.metallic = share_of(material, pbr, "metallicFactor", 1);
        surface.roughness = share_of(material, pbr, "roughnessFactor", 1);
        if (surface.metallic > 0 || surface.roughness > 0) {
            const NamedTexture metal =
                texture_of(pbr, "metallicRoughnessTexture", TexelMeaning::numbers, sets);
            surface.textures.metal = metal.use;
            if (metal.is_lost()) {
                surface.metallic = 0;
                surface.roughness = 1;
            }
        }
        if (surface.metallic < 1 || surface.textures.metal) give_highlight(material, sets, surface);
        return texture;
    }

    void give_old_highlight(const Json& material, const Json& old, SurfaceDescription& surface) {
        if (old.contains("specularGlossinessTexture")) {
            not_shown_.add("textures (specularGlossinessTexture)");
            return;
        }
        surface.roughness = 1 - share_of(material, old, "glossinessFactor", 1);
        surface.highlight = colour_of(old, "specularFactor", {1, 1, 1});
        surface.highlight_edge = 1;
    }

    void give_highlight(const Json& material, std::size_t sets, SurfaceDescription& surface) {
        double ior = 1.5;
        if (const Json* const refraction = extension(material, "KHR_materials_ior"))
            ior = file_.number(*refraction, "ior", ior);
        surface.ior = static_cast<float>(ior);
        const bool is_right = ior == 0 || (ior >= 0.1 && ior <= 100);
        if (!is_right)
            scene_.notes.push_back("material \"" + excerpt(file_.text(material, "name")) +
                                   "\": its index of refraction is not right; highlights have 1.5");
        // 0 is the extension's word for what reflects all.
        const float head_on = ior == 0 ? 1 : head_on_reflectance(is_right ? ior : 1.5);
        surface.highlight = {head_on, head_on, head_on};
        surface.highlight_edge = 1;
        const Json* const specular = extension(material, "KHR_materials_specular");
        if (specular == nullptr) return;
        const NamedTexture strength = texture_of(*specular, "specularTexture", TexelMeaning::numbers, sets),
                           tint =
                               texture_of(*specular, "specularColorTexture", TexelMeaning::reflectance, sets);
        if (!strength.is_lost()) surface.highlight_edge = share_of(material, *specular, "specularFactor", 1);
        if (!tint.is_lost())
            surface.highlight = surface.highlight * colour_of(*specular, "specularColorFactor", {1, 1, 1});
        surface.textures.highlight = strength.use;
        surface.textures.highlight_tint = tint.use;
    }

    void give_glass(const Json& material, std::size_t sets, SurfaceDescription& surface) {
        const Json* const through = extension(material, "KHR_materials_transmission");
        if (through == nullptr) return;
        surface.transmitted = share_of(material, *through, "transmissionFactor", 0);
        if (surface.transmitted == 0) return; // then a texture makes no difference
        const NamedTexture window = texture_of(*through, "transmissionTexture", TexelMeaning::numbers, sets);
        surface.textures.transmission = window.use;
        if (window.is_lost() || surface.ior == 0) surface.transmitted = 0;
        if (extension(material, "KHR_materials_specular") != nullptr)
            not_shown_.add("KHR_materials_specular of what light passes");
        surface.is_thin = true;
        const Json* const volume = extension(material, "KHR_materials_volume");
        if (volume == nullptr || !(file_.number(*volume, "thicknessFactor", 0) > 0)) return;
        surface.is_thin = false; // how thick it is, triangles say
        if (!volume->contains("attenuationDistance")) return;
        const double distance = file_.number(*volume, "attenuationDistance", 0);
        if (!(distance > 0)) refuse_material(material, "its attenuationDistance is not above 0");
        std::array<double, 3> colour{1, 1, 1};
        file_.numbers(*volume, "attenuationColor", colour);
        constexpr double blackest = 1e-6; // of which a logarithm can be taken
        for (double& part : colour) {
            if (!(part >= 0 && part <= 1))
                refuse_material(material, "its attenuationColor is not between 0 and 1");
            part = -std::log(std::max(part, blackest)) / distance;
            if (!(part <= 1e15)) refuse_material(material, "its attenuationDistance is too small");
        }
        const Float3 absorption = rounded({colour[0], colour[1], colour[2]});
        surface.absorption = {absorption.x, absorption.y, absorption.z};
    }

    void give_coat(const Json& material, std::size_t sets, SurfaceDescription& surface) {
        const Json* const coat = extension(material, "KHR_materials_clearcoat");
        if (coat == nullptr) return;
        surface.coat = share_of(material, *coat, "clearcoatFactor", 0);
        if (surface.coat == 0) return;
        surface.coat_roughness = share_of(material, *coat, "clearcoatRoughnessFactor", 0);
        const NamedTexture strength = texture_of(*coat, "clearcoatTexture", TexelMeaning::numbers, sets),
                           roughness =
                               texture_of(*coat, "clearcoatRoughnessTexture", TexelMeaning::numbers, sets);
        surface.textures.coat = strength.use;
        surface.textures.coat_roughness = roughness.use;
        surface.textures.coat_normal =
            normals_of(material, *coat, "clearcoatNormalTexture", sets, surface.textures.coat_normal_scale);
        if (strength.is_lost() || roughness.is_lost()) surface.coat = 0;
    }

    void give_sheen(const Json& material, std::size_t sets, SurfaceDescription& surface) {
        const Json* const sheen = extension(material, "KHR_materials_sheen");
        if (sheen == nullptr) return;
        const Rgb colour = colour_of(*sheen, "sheenColorFactor", {0, 0, 0});
        for (const float part : {colour.r, colour.g, colour.b})
            if (!(part >= 0 && part <= 1))
                refuse_material(material, "its sheenColorFactor is not between 0 and 1");
        if (is_black(colour)) return;
        surface.sheen_roughness = share_of(material, *sheen, "sheenRoughnessFactor", 0);
        const NamedTexture tint = texture_of(*sheen, "sheenColorTexture", TexelMeaning::reflectance, sets),
                           roughness =
                               texture_of(*sheen, "sheenRoughnessTexture", TexelMeaning::numbers, sets);
        surface.textures.sheen = tint.use;
        surface.textures.sheen_roughness = roughness.use;
        if (!tint.is_lost() && !roughness.is_lost()) surface.sheen = colour;
    }

    void give_emission(const Json& material, std::size_t sets, SurfaceDescription& surface) {
        double strength = 1;
        if (const Json* const emissive = extension(material, "KHR_materials_emissive_strength"))
            strength = file_.number(*emissive, "emissiveStrength", 1);
        std::array<double, 3> emission{0, 0, 0};
        file_.numbers(material, "emissiveFactor", emission);
        if (emission == std::array<double, 3>{0, 0, 0}) return;
        const NamedTexture lamp = texture_of(material, "emissiveTexture", TexelMeaning::radiance, sets);
        surface.textures.emission = lamp.use;
        if (lamp.is_lost()) strength = 0;
        surface.emission = {static_cast<float>(emission[0] * strength),
                            static_cast<float>(emission[1] * strength),
                            static_cast<float>(emission[2] * strength)};
    }

    std::optional<TextureUse> normals_of(const Json& material, const Json& object, const char* name,
                                         std::size_t sets, float& scale) {
        std::optional<TextureUse> use = texture_of(object, name, TexelMeaning::numbers, sets).use;
        if (!use) return use;
        const double written = file_.number(object[name], "scale", 1);
        if (!(std::abs(written) <= 1000))
            refuse_material(material, "the scale of its normals is beyond 1000");
        scale = static_cast<float>(written);
        return use;
    }

    /// `has_opacity`: the vertices have.
    void give_opacity(const Json& material, const NamedTexture& base, bool has_opacity,
                      SurfaceDescription& surface) {
        const std::string mode = file_.text(material, "alphaMode");
        const float opacity = std::exchange(surface.opacity, 1.0f);
        if (mode.empty() || mode == "OPAQUE") return;
        if (mode != "MASK" && mode != "BLEND") return not_shown_.add("alpha mode " + excerpt(mode));
        if (base.is_lost()) return not_shown_.add("alpha mode " + excerpt(mode));
        if (!(opacity >= 0 && opacity <= 1)) refuse_material(material, "its opacity is not between 0 and 1");
        if (base.use && !scene_.images[base.use->image].is_opaque) surface.textures.opacity = base.use;
        surface.opacity = opacity;
        surface.cutoff = static_cast<float>(file_.number(material, "alphaCutoff", 0.5));
        const bool may_pass = mode == "BLEND" ? opacity < 1 : !(surface.opacity >= surface.cutoff);
        if (!may_pass && !surface.textures.opacity && !has_opacity) return; // opaque all the same
        surface.passing = mode == "BLEND" ? Passing::its_share : Passing::all;
    }

    const SceneFiles& files_;
    const std::filesystem::path& path_;
    GltfFile file_;
    float albedo_;
    Scene scene_;
    NotShown not_shown_;
    std::string camera_fault_; ///< why a camera is left out
    std::map<std::tuple<std::optional<std::size_t>, bool, bool, std::size_t>, uint32_t> materials_;
    std::map<std::pair<std::size_t, TexelMeaning>, ReadImage> images_;
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
