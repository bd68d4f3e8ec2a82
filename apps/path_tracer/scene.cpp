// apps/path_tracer/scene.cpp - see scene.hpp.
#include "scene.hpp"
#include "corner_shading.hpp"
#include "polygon.hpp"
#include "scene_readers.hpp"
#include "text_lines.hpp"
#include "vector_math.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <numbers>
#include <type_traits>

namespace path_tracer {

namespace fs = std::filesystem;
using headrace::Error;
using headrace::ErrorKind;

void refuse_scene(const fs::path& file, const std::string& what) {
    throw Error{ErrorKind::invalid_argument, file.string() + ": " + what};
}

void NotShown::add(const std::string& what) {
    if (std::find(names_.begin(), names_.end(), what) == names_.end()) names_.push_back(what);
}

void NotShown::report_to(Scene& scene) const {
    std::string all;
    for (const std::string& name : names_) all += (all.empty() ? "not shown: " : ", ") + name;
    if (!all.empty()) scene.notes.push_back(all);
}

std::string_view without_byte_order_mark(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    return text;
}

void give_normals(Scene& scene, SceneTriangle& triangle, Point across, const std::array<Point, 3>& normals) {
    const auto& [a, b, c] = normals;
    const auto encoded = encoded_normals(normalised(across), normalised(a), normalised(b), normalised(c));
    if (!encoded) return;
    triangle.normals = static_cast<uint32_t>(scene.normals.size());
    scene.normals.push_back(*encoded);
}

void add_polygon(Scene& scene, const Polygon& polygon, uint32_t material) {
    const auto& [corners, normals, colours, places] = polygon;
    const bool is_smooth = !normals.empty() && std::all_of(normals.begin(), normals.end(), is_direction);
    for (const auto& [first, second, third] : triangulate(corners)) {
        const Point a = corners[first], b = corners[second], c = corners[third];
        const double longest = std::max({length(b - a), length(c - b), length(a - c)});
        const Point across = cross(b - a, c - a);
        // Thinner than 2^-42 of its length is what rounding makes of corners in a row.
        if (!(length(across) > 0x1p-42 * longest * longest)) continue;
        SceneTriangle& triangle = scene.triangles.emplace_back(SceneTriangle{a, b, c, material});
        if (is_smooth)
            give_normals(scene, triangle, across, {normals[first], normals[second], normals[third]});
        if (!colours.empty()) {
            triangle.colours = static_cast<uint32_t>(scene.colours.size());
            scene.colours.push_back({colours[first], colours[second], colours[third]});
        }
        if (!places.empty()) triangle.places = static_cast<uint32_t>(scene.places.size());
        for (auto set = places; !set.empty(); set = set.subspan(corners.size()))
            scene.places.push_back({set[first], set[second], set[third]});
    }
}

ReadImage add_image(Scene& scene, const std::string& name, std::string bytes, TexelMeaning meaning) {
    ReadImage read;
    try {
        TextureImage image = decode_texture(name, std::move(bytes), meaning);
        for (const std::string& note : image.notes) scene.notes.push_back(note);
        read.place = static_cast<uint32_t>(scene.images.size());
        scene.images.push_back(std::move(image));
    } catch (const Error& error) {
        read.fault = error.what();
    } catch (const std::exception& error) { // of a library, or no memory
        read.fault = name + ": " + error.what();
    }
    return read;
}

ReadImage add_image(Scene& scene, const SceneFiles& files, std::string_view file, TexelMeaning meaning) {
    const bool is_there = files.exists(file);
    if (is_there && !files.is_empty(file))
        return add_image(scene, excerpt(file), files.read_named(file), meaning);
    files.expect_inside(file);
    return {std::nullopt, '"' + excerpt(file) + (is_there ? "\" is empty" : "\" is not there")};
}

std::optional<std::string> fault_of(const SurfaceDescription& surface) {
    for (const Rgb part : {surface.base, surface.mirror, surface.highlight, surface.sheen, surface.absorption,
                           surface.emission})
        for (const float value : {part.r, part.g, part.b})
            if (!(value >= 0 && value <= 1e15f))
                return "a colour is negative or not finite; mend the material";
    for (const float share :
         {surface.metallic, surface.transmitted, surface.roughness, surface.highlight_edge, surface.coat,
          surface.coat_roughness, surface.sheen_roughness})
        if (!(share >= 0 && share <= 1)) return "a factor is not between 0 and 1; mend the material";
    if (surface.may_be_glass() && !(surface.ior >= 0.1f && surface.ior <= 100))
        return "the index of refraction is not between 0.1 and 100; mend the material";
    return std::nullopt;
}

uint32_t add_material(Scene& scene, const fs::path& file, const std::string& name,
                      SurfaceDescription surface) {
    if (const auto fault = fault_of(surface)) refuse_scene(file, "material \"" + name + "\": " + *fault);
    if (!surface.may_be_glass()) surface.ior = SurfaceDescription{}.ior; // whatever it was: nothing refracts
    const float total = largest(surface.base + surface.mirror);
    if (total > 1)
        for (Rgb* part : {&surface.base, &surface.mirror}) *part = *part * (1 / total);
    if (total > 1.001f)
        scene.notes.push_back("material \"" + name + "\" sends on more light than it gets; it is dimmed");
    scene.materials.push_back(surface);
    return static_cast<uint32_t>(scene.materials.size() - 1);
}

template <class Number>
std::optional<Number> to_number(std::string_view word) {
    if (!word.empty() && word.front() == '+') word.remove_prefix(1);
    using Wide = std::conditional_t<std::is_floating_point_v<Number>, double, Number>;
    Wide number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (end != word.data() + word.size() || error == std::errc::invalid_argument) return std::nullopt;
    if (error == std::errc::result_out_of_range) { // of a double: too close to 0, or too far from it
        const bool is_tiny = word.find("e-") != word.npos || word.find("E-") != word.npos;
        return is_tiny ? Number{0} : std::numeric_limits<Number>::max();
    }
    return static_cast<Number>(number);
}
template std::optional<float> to_number(std::string_view);
template std::optional<double> to_number(std::string_view);
template std::optional<std::int64_t> to_number(std::string_view);

Scene load_scene(const fs::path& file, float albedo, FileRules rules) {
    using Reader = Scene (*)(const SceneFiles&, std::string_view, float);
    std::string extension = file.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    const Reader read = extension == ".obj"                           ? read_obj
                        : extension == ".ply"                         ? read_ply
                        : extension == ".gltf" || extension == ".glb" ? read_gltf
                                                                      : nullptr;
    if (read == nullptr) refuse_scene(file, "has an unknown format; scenes are .obj, .ply, .gltf or .glb");
    const SceneFiles files(file, rules);
    const std::string bytes = files.read_scene();
    Scene scene = read(files, without_byte_order_mark(bytes), albedo);
    if (scene.triangles.empty())
        refuse_scene(file, "has no triangles with an area; export meshes, not points or curves");
    return scene;
}

Surroundings surroundings_of(const Scene& scene, const SceneMesh& mesh) {
    Surroundings all;
    for (std::size_t i = 0; i < mesh.count; ++i) all.add(scene.triangles[mesh.first + i]);
    return all;
}

Surroundings surroundings_of(const Scene& scene) {
    Surroundings all;
    for (std::size_t i = 0; i < scene.single_triangles(); ++i) all.add(scene.triangles[i]);
    constexpr std::size_t few = std::size_t{1} << 22; // triangles
    std::size_t shown = 0;
    for (const SceneInstance& instance : scene.instances) shown += scene.meshes[instance.mesh].count;
    std::vector<Surroundings> boxes;
    for (const SceneMesh& mesh : scene.meshes) boxes.push_back(surroundings_of(scene, mesh));
    for (const auto& [number, place] : scene.instances) {
        const SceneMesh& mesh = scene.meshes[number];
        if (shown <= few) {
            for (std::size_t i = mesh.first; i < mesh.first + mesh.count; ++i)
                for (const Point corner : {scene.triangles[i].a, scene.triangles[i].b, scene.triangles[i].c})
                    all.add(place(corner));
        } else {
            all.add(boxes[number], place);
        }
    }
    return all;
}

namespace {

/// From +z.
CameraPose view_of_all(const Scene& scene) {
    const auto [lo, hi] = surroundings_of(scene);
    constexpr float fov_degrees = 45;
    constexpr double tangent_of_half = 0.41421356;
    const Point middle = (lo + hi) * 0.5;
    const double half = std::max({(hi.x - lo.x) * 0.5, (hi.y - lo.y) * 0.5, (hi.z - lo.z) * 1e-3});
    return {{middle.x, middle.y, hi.z + 1.1 * half / tangent_of_half}, middle, fov_degrees};
}

/// Unit vectors at right angles.
struct Axes {
    Point forward, right, down;
};

Axes axes_of(const CameraPose& view) {
    const Point forward = normalised(view.target - view.eye);
    const auto across = [&](Point up) { return cross(forward, up); };
    constexpr double narrowest = 1e-3; // nearer to the way of looking, no direction is up
    Point right{0, 0, 0};
    if (view.up && largest_part(*view.up) > 0) right = across(normalised(*view.up));
    if (!(length(right) > narrowest)) {
        const bool is_upright =
            std::abs(forward.y) > 0.999999; // straight up or down: then the picture's top is -z
        right = across(is_upright ? Point{0, 0, -1} : Point{0, 1, 0});
    }
    right = normalised(right);
    const Point down = cross(forward, right);
    const double turn = view.roll_degrees * std::numbers::pi / 180;
    return {forward, right * std::cos(turn) + down * std::sin(turn),
            down * std::cos(turn) - right * std::sin(turn)};
}

/// The side of a pixel, one unit of length before the eye.
double pixel_of(const CameraPose& view, uint32_t height) {
    return 2 * std::tan(double{view.vertical_fov_degrees} * std::numbers::pi / 360) /
           static_cast<double>(height);
}

/// As --camera takes it, and what else there is.
std::string description_of(const CameraPose& view) {
    const Axes upright = axes_of({view.eye, view.target, view.vertical_fov_degrees}), own = axes_of(view);
    const double roll =
        std::atan2(dot(own.right, upright.down), dot(own.right, upright.right)) * 180 / std::numbers::pi;
    std::string text;
    for (const Point& point : {view.eye, view.target})
        for (const double value : {point.x, point.y, point.z}) text += as_text(value + 0.0) + ','; // no -0
    text += as_text(double{view.vertical_fov_degrees});
    if (std::abs(roll) >= 1e-6) text += ',' + as_text(roll);
    if (view.orthographic_height > 0) text += "\t--orthographic " + as_text(view.orthographic_height);
    return text;
}

} // namespace

CameraPose camera_of(const Scene& scene, const std::string& which) {
    if (which.empty()) return scene.cameras.empty() ? view_of_all(scene) : scene.cameras.front().pose;
    for (const NamedCamera& camera : scene.cameras)
        if (camera.name == which) return camera.pose;
    const std::optional<std::int64_t> number = to_number<std::int64_t>(which);
    if (number && *number >= 0 && static_cast<std::uint64_t>(*number) < scene.cameras.size())
        return scene.cameras[static_cast<std::size_t>(*number)].pose;
    std::string known;
    for (std::size_t i = 0; i < scene.cameras.size(); ++i)
        known += (i == 0 ? "" : ", ") + std::to_string(i) + " \"" + scene.cameras[i].name + '"';
    throw Error{ErrorKind::invalid_argument, "--camera " + which + ": the scene has no such camera; it has " +
                                                 (known.empty() ? "none" : known)};
}

std::string list_of_cameras(const Scene& scene) {
    std::string lines;
    for (std::size_t i = 0; i < scene.cameras.size(); ++i)
        lines += std::to_string(i) + '\t' + scene.cameras[i].name + '\t' +
                 description_of(scene.cameras[i].pose) + '\n';
    return lines;
}

Camera make_camera(const CameraPose& view, const Placement& placement, uint32_t width, uint32_t height) {
    const auto refuse = [](const char* what) {
        throw Error{ErrorKind::invalid_argument, std::string("--camera: ") + what};
    };
    if (!(view.vertical_fov_degrees > 0 && view.vertical_fov_degrees < 180))
        refuse("the angle must be between 0 and 180 degrees");
    for (const double value :
         {view.eye.x, view.eye.y, view.eye.z, view.target.x, view.target.y, view.target.z})
        if (!(std::abs(value) <= farthest_coordinate)) refuse("a coordinate is not finite or beyond 1e30");
    const Point way = view.target - view.eye;
    if (!(largest_part(way) > 0)) refuse("the eye and the target are one point");
    const Point eye = placement.place(view.eye);
    if (!(largest_part(eye) <= 1e6)) // neighbouring rays would be the same in floats
        refuse("the eye is more than a million times the scene's size away; move it nearer");
    const Axes axes = axes_of(view);
    const Point& forward = axes.forward;
    const Point& right = axes.right;
    const Point& down = axes.down;
    const auto upper_left = [&](Point middle, double pixel) {
        return middle - right * (pixel * 0.5 * static_cast<double>(width)) -
               down * (pixel * 0.5 * static_cast<double>(height));
    };
    Camera camera{};
    if (view.orthographic_height > 0) {
        const double pixel = view.orthographic_height * placement.scale / static_cast<double>(height);
        if (!(pixel * static_cast<double>(std::max(width, height)) <= 1e6))
            refuse("the orthographic view is more than a million times the scene's size wide or high");
        if (!(pixel >= 1e-6)) // neighbouring rays would be the same in floats
            refuse("a pixel of the orthographic view is less than a millionth of the scene's size");
        // Each ray has an origin of its own, and floats are coarse far away.
        const double before_middle = -dot(eye, forward);
        const Point near_eye = eye + forward * std::max(before_middle - 3, 0.0);
        camera.projection = PROJECTION_ORTHOGRAPHIC;
        camera.eye = rounded(upper_left(near_eye, pixel));
        camera.corner = rounded(forward);
        camera.aside = rounded(right * pixel);
        camera.below = rounded(down * pixel);
        return camera;
    }
    camera.eye = rounded(eye);
    double away = 1; // of the plane that rays are aimed at
    if (view.lens_radius > 0) {
        const double radius = view.lens_radius * placement.scale;
        away = view.focus * placement.scale;
        if (!(radius <= 1e6 && away >= 1e-6 && away <= 1e6))
            refuse("the lens or its focus is a million times larger than the scene, or smaller");
        camera.projection = PROJECTION_LENS;
        camera.aside = rounded(right * radius);
        camera.below = rounded(down * radius);
    }
    const double pixel = pixel_of(view, height) * away;
    camera.corner = rounded(upper_left(forward * away, pixel));
    camera.right = rounded(right * pixel);
    camera.down = rounded(down * pixel);
    return camera;
}

SampleWidth sample_width(const CameraPose& view, const Placement& placement, uint32_t height,
                         uint32_t samples) {
    // Samples of a pixel share it. Less than half of it would make textures sharper, and noisy from afar.
    const double share = std::max(0.5, 1 / std::sqrt(static_cast<double>(samples)));
    if (view.orthographic_height > 0)
        return {static_cast<float>(share * view.orthographic_height * placement.scale / height), 0};
    return {0, static_cast<float>(share * pixel_of(view, height))};
}

} // namespace path_tracer
