// apps/path_tracer/check_gltf.cpp - see scene_readers.hpp. The one unit of the loader that sees the
// JSON library.
#include "program/used_files.hpp"
#include "scene_readers.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace path_tracer {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uint32_t glb_magic = 0x46546C67, json_chunk = 0x4E4F534A, binary_chunk = 0x004E4942;
constexpr std::uint64_t bytes_limit = std::uint64_t{1} << 40; // keeps sums of sizes far from wrapping round

std::uint32_t word_at(std::string_view bytes, std::size_t offset) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

void append_word(std::string& bytes, std::size_t word) {
    const auto fixed = static_cast<std::uint32_t>(word);
    bytes.append(reinterpret_cast<const char*>(&fixed), sizeof fixed);
}

/// The bytes behind `data:...;base64,`; shorter than meant if a letter is none of the 64.
std::string decode_base64(std::string_view text) {
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char letter : text) {
        std::uint32_t value;
        if (letter >= 'A' && letter <= 'Z')
            value = static_cast<std::uint32_t>(letter - 'A');
        else if (letter >= 'a' && letter <= 'z')
            value = static_cast<std::uint32_t>(letter - 'a' + 26);
        else if (letter >= '0' && letter <= '9')
            value = static_cast<std::uint32_t>(letter - '0' + 52);
        else if (letter == '+')
            value = 62;
        else if (letter == '/')
            value = 63;
        else
            break;
        bits = bits << 6 | value;
        if ((count += 6) >= 8) bytes.push_back(static_cast<char>(bits >> (count -= 8) & 0xff));
    }
    return bytes;
}

struct Accessor {
    std::uint64_t count = 0;
    int component = 0;
    std::string type;
    const char* data = nullptr;
    std::uint64_t stride = 0;

    [[nodiscard]] std::uint64_t index(std::uint64_t i) const {
        std::uint32_t value = 0; // glTF is little-endian, and so is every machine that this runs on
        std::memcpy(&value, data + i * stride, component == 5125 ? 4 : component == 5123 ? 2 : 1);
        return value;
    }
};

class GltfCheck {
public:
    GltfCheck(const fs::path& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

    CheckedGltf run() {
        const bool is_binary = bytes_.size() >= 4 && word_at(bytes_, 0) == glb_magic;
        const std::string_view text = is_binary ? open_glb() : bytes_;
        gltf_ = Json::parse(text.begin(), text.end(), nullptr, false);
        if (gltf_.is_discarded()) refuse("is not valid JSON; it is damaged or truncated, export it again");
        if (!gltf_.is_object() || !gltf_.contains("asset")) refuse("is no glTF: it has no \"asset\"");
        if (gltf_["asset"].value("version", "").rfind("2.", 0) != 0)
            refuse("is not glTF 2.x; export it as glTF 2.0");
        for (const char* draco : {"KHR_draco_mesh_compression", "EXT_meshopt_compression"})
            for (const Json& required : list("extensionsRequired"))
                if (required == draco)
                    refuse(std::string("needs ") + draco + ", which is not read; export it uncompressed");
        read_buffers();
        check_meshes();
        check_nodes();

        CheckedGltf checked;
        for (const Json& material : list("materials"))
            checked.emissive_strength.push_back(
                extension(material, "KHR_materials_emissive_strength", "emissiveStrength", 1));
        for (const Json& node : list("nodes")) {
            const Json* camera = reference(node, "camera", "cameras");
            checked.has_other_cameras |= camera != nullptr && !camera->contains("perspective");
            checked.vertical_fov.push_back(camera != nullptr && camera->contains("perspective")
                                               ? number((*camera)["perspective"], "yfov", 0)
                                               : 0.0f);
            checked.transforms.push_back(transform(node));
        }
        for (const Json& material : list("materials"))
            checked.material_names.push_back(material.value("name", ""));
        leave_out_the_rest();
        number_names();
        checked.bytes = is_binary ? as_glb() : gltf_.dump();
        return checked;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const { refuse_scene(file_, what); }

    // ---- reading JSON whose types nobody vouches for

    const Json& list(const char* name) const { return list(gltf_, name); }
    const Json& list(const Json& object, const char* name) const {
        static const Json none = Json::array();
        const auto found = object.find(name);
        if (found == object.end()) return none;
        if (!found->is_array()) refuse(std::string("\"") + name + "\" is no list; export it again");
        return *found;
    }
    std::uint64_t size(const Json& object, const char* name, std::uint64_t fallback) const {
        const auto found = object.find(name);
        if (found == object.end()) return fallback;
        if (!found->is_number_unsigned() || found->get<std::uint64_t>() > bytes_limit)
            refuse(std::string("\"") + name + "\" is " + found->dump().substr(0, 40) +
                   ", which makes no sense; export it again");
        return found->get<std::uint64_t>();
    }
    /// The element of `name` that object[key] names; null if the object has no such key.
    const Json* reference(const Json& object, const char* key, const char* name) const {
        if (!object.contains(key)) return nullptr;
        const std::uint64_t index = size(object, key, 0);
        const Json& all = list(name);
        if (index >= all.size())
            refuse(std::string("\"") + key + "\" names " + std::to_string(index) + " of " +
                   std::to_string(all.size()) + ' ' + name + " (they count from 0); export it again");
        return &all[index];
    }
    float number(const Json& object, const char* name, float fallback) const {
        const auto found = object.find(name);
        if (found == object.end()) return fallback;
        if (!found->is_number()) refuse(std::string("\"") + name + "\" is no number; export it again");
        return found->get<float>();
    }
    /// As many numbers as `values` has, into it; what it holds stays if there is no such key.
    template <std::size_t N>
    void numbers(const Json& object, const char* name, std::array<double, N>& values) const {
        const auto found = object.find(name);
        if (found == object.end()) return;
        const bool fits =
            found->is_array() && found->size() == N &&
            std::all_of(found->begin(), found->end(), [](const Json& value) {
                return value.is_number() && std::abs(value.get<double>()) <= farthest_coordinate;
            });
        if (!fits)
            refuse(std::string("\"") + name + "\" is no list of " + std::to_string(N) +
                   " finite numbers; export it again");
        for (std::size_t i = 0; i < N; ++i) values[i] = (*found)[i].template get<double>();
    }
    Transform transform(const Json& node) const {
        std::array<double, 16> matrix{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}; // column by column
        if (node.contains("matrix")) {
            numbers(node, "matrix", matrix);
            return {{Point{matrix[0], matrix[1], matrix[2]}, Point{matrix[4], matrix[5], matrix[6]},
                     Point{matrix[8], matrix[9], matrix[10]}},
                    {matrix[12], matrix[13], matrix[14]}};
        }
        std::array<double, 3> shift{0, 0, 0}, scale{1, 1, 1};
        std::array<double, 4> turn{0, 0, 0, 1}; // a unit quaternion
        numbers(node, "translation", shift);
        numbers(node, "rotation", turn);
        numbers(node, "scale", scale);
        const auto [x, y, z, w] = turn;
        return {{Point{1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)} * scale[0],
                 Point{2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)} * scale[1],
                 Point{2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)} * scale[2]},
                {shift[0], shift[1], shift[2]}};
    }
    float extension(const Json& object, const char* name, const char* key, float fallback) const {
        const auto extensions = object.find("extensions");
        if (extensions == object.end() || !extensions->contains(name)) return fallback;
        return number((*extensions)[name], key, fallback);
    }

    // ---- containers

    std::string_view open_glb() {
        if (bytes_.size() < 20 || word_at(bytes_, 8) > bytes_.size())
            refuse(
                "is truncated: the header promises " +
                (bytes_.size() < 12 ? std::string("more") : std::to_string(word_at(bytes_, 8)) + " bytes") +
                "; copy or export it again");
        const std::uint64_t json_size = word_at(bytes_, 12);
        if (word_at(bytes_, 16) != json_chunk || 20 + json_size > bytes_.size())
            refuse("is damaged: its first chunk is not JSON of the size it says; export it again");
        const std::uint64_t next = 20 + (json_size + 3) / 4 * 4;
        if (next + 8 <= bytes_.size() && word_at(bytes_, next + 4) == binary_chunk) {
            if (next + 8 + word_at(bytes_, next) > bytes_.size())
                refuse("is truncated: the binary chunk is shorter than it says; copy or export it again");
            binary_ = bytes_.substr(next + 8, word_at(bytes_, next));
        }
        return bytes_.substr(20, json_size);
    }

    std::string as_glb() const {
        std::string json = gltf_.dump();
        json.resize((json.size() + 3) / 4 * 4, ' ');
        std::string binary(binary_);
        binary.resize((binary.size() + 3) / 4 * 4, '\0');
        std::string glb;
        for (const std::size_t word :
             {std::size_t{glb_magic}, std::size_t{2}, 28 + json.size() + binary.size(), json.size(),
              std::size_t{json_chunk}})
            append_word(glb, word);
        glb += json;
        append_word(glb, binary.size());
        append_word(glb, binary_chunk);
        return glb += binary;
    }

    void read_buffers() {
        std::size_t index = 0;
        if (gltf_.contains("buffers") && !gltf_["buffers"].is_array())
            refuse("\"buffers\" is no list; export it again");
        for (Json& buffer : gltf_["buffers"]) {
            const std::string which = "buffer " + std::to_string(index);
            const std::string uri = buffer.value("uri", "");
            if (uri.empty()) {
                if (index != 0 || binary_.data() == nullptr) refuse(which + " has no data; export it again");
                buffers_.emplace_back(binary_);
            } else if (uri.rfind("data:", 0) == 0) {
                const auto comma = uri.find(";base64,");
                if (comma == std::string::npos)
                    refuse(which + " has a data URI that is not base64; export it again");
                buffers_.push_back(decode_base64(std::string_view(uri).substr(comma + 8)));
            } else {
                buffers_.push_back(read_beside(which, uri));
                buffer["uri"] =
                    fs::absolute(file_.parent_path() / uri).string(); // the importer gets this text alone
            }
            const std::uint64_t promised = size(buffer, "byteLength", 0);
            if (buffers_.back().size() < promised)
                refuse(which + " is truncated: " + std::to_string(buffers_.back().size()) + " bytes of " +
                       std::to_string(promised) + "; copy or export it again");
            ++index;
        }
    }

    std::string read_beside(const std::string& which, const std::string& uri) const {
        program::note_input(file_.parent_path() / uri);
        std::ifstream stream(file_.parent_path() / uri, std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        if (!stream.is_open() || stream.bad())
            refuse(which + " is the file " + (file_.parent_path() / uri).string() +
                   ", which cannot be read; copy it there");
        return bytes;
    }

    Accessor accessor(const Json& json) const {
        Accessor result;
        result.count = size(json, "count", 0);
        result.component = static_cast<int>(size(json, "componentType", 0));
        result.type = json.value("type", "");
        if (json.contains("sparse"))
            refuse("uses sparse accessors, which are not read; export it without them");
        const std::uint64_t component_size = result.component == 5126 || result.component == 5125   ? 4
                                             : result.component == 5122 || result.component == 5123 ? 2
                                                                                                    : 1;
        const std::uint64_t element = component_size * (result.type == "VEC3" ? 3 : 1);
        const Json* view = reference(json, "bufferView", "bufferViews");
        if (view == nullptr) refuse("has an accessor without data, which is not read; export it again");
        if (reference(*view, "buffer", "buffers") == nullptr)
            refuse("has a bufferView without a buffer; export it again");
        const std::string& buffer = buffers_[size(*view, "buffer", 0)];
        const std::uint64_t begin = size(*view, "byteOffset", 0) + size(json, "byteOffset", 0);
        const std::uint64_t view_end = size(*view, "byteOffset", 0) + size(*view, "byteLength", 0);
        result.stride = size(*view, "byteStride", element);
        if (result.stride < element) refuse("has a byteStride that is too small; export it again");
        const std::uint64_t last = result.count == 0 ? 0 : (result.count - 1);
        if (result.count > bytes_limit / 4096 || result.stride > 4096 || view_end > buffer.size() ||
            begin + last * result.stride + (result.count == 0 ? 0 : element) > view_end)
            refuse("has an accessor of " + std::to_string(result.count) +
                   " elements that reaches past its buffer of " + std::to_string(buffer.size()) +
                   " bytes; it is damaged or truncated, export it again");
        result.data = buffer.data() + begin;
        return result;
    }

    void check_meshes() {
        std::size_t mesh_index = 0;
        for (const Json& mesh : list("meshes")) {
            for (const Json& primitive : list(mesh, "primitives"))
                check_primitive("mesh " + std::to_string(mesh_index), primitive);
            ++mesh_index;
        }
    }

    void check_primitive(const std::string& which, const Json& primitive) {
        const Json* position = primitive.contains("attributes")
                                   ? reference(primitive["attributes"], "POSITION", "accessors")
                                   : nullptr;
        if (position == nullptr) refuse(which + " has no positions; export it again");
        reference(primitive, "material", "materials");
        if (primitive.contains("extensions") &&
            primitive["extensions"].contains("KHR_draco_mesh_compression"))
            refuse(which + " is compressed with Draco, which is not read; export it uncompressed");
        const Accessor positions = accessor(*position);
        if (positions.component != 5126 || positions.type != "VEC3")
            refuse(which + " has positions that are not three floats");
        for (std::uint64_t i = 0; i < positions.count; ++i) {
            float xyz[3];
            std::memcpy(xyz, positions.data + i * positions.stride, sizeof xyz);
            for (const float value : xyz)
                if (!(std::abs(value) <= farthest_coordinate))
                    refuse(which + ", vertex " + std::to_string(i) +
                           ": is not finite or too large; export it again");
        }
        const Json* indices = reference(primitive, "indices", "accessors");
        if (indices == nullptr) return;
        const Accessor index = accessor(*indices);
        if ((index.component != 5121 && index.component != 5123 && index.component != 5125) ||
            index.type != "SCALAR")
            refuse(which + " has indices that are no unsigned integers; export it again");
        for (std::uint64_t i = 0; i < index.count; ++i)
            if (index.index(i) >= positions.count)
                refuse(which + ": index " + std::to_string(i) + " names vertex " +
                       std::to_string(index.index(i)) + " of " + std::to_string(positions.count) +
                       " (they count from 0); export it again");
    }

    void check_nodes() {
        const Json& nodes = list("nodes");
        std::vector<int> parents(nodes.size(), 0);
        for (const Json& node : nodes) {
            reference(node, "mesh", "meshes");
            reference(node, "camera", "cameras");
            for (const Json& child : list(node, "children")) {
                if (!child.is_number_unsigned() || child.get<std::uint64_t>() >= nodes.size())
                    refuse("has a node with the child " + child.dump().substr(0, 20) + " of " +
                           std::to_string(nodes.size()) + " nodes; export it again");
                if (++parents[child.get<std::size_t>()] > 1)
                    refuse("has node " + child.dump() + " twice in its tree; export it again");
            }
        }
        // Each has one parent at most; what is not reached from a root is then a circle.
        std::vector<std::size_t> reached;
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (parents[i] == 0) reached.push_back(i);
        for (std::size_t i = 0; i < reached.size(); ++i)
            for (const Json& child : list(nodes[reached[i]], "children"))
                reached.push_back(child.get<std::size_t>());
        if (reached.size() != nodes.size()) refuse("has a node that is its own ancestor; export it again");
        reference(gltf_, "scene", "scenes");
        for (const Json& scene : list("scenes"))
            for (const Json& root : list(scene, "nodes"))
                if (!root.is_number_unsigned() || root.get<std::uint64_t>() >= nodes.size())
                    refuse("has a scene with the node " + root.dump().substr(0, 20) + " of " +
                           std::to_string(nodes.size()) + "; export it again");
    }

    /// The importer reads all of a file, and trusts all of it; what is not drawn is none of its business.
    void leave_out_the_rest() {
        for (const char* name :
             {"animations", "skins", "images", "textures", "samplers", "extensions", "cameras"})
            gltf_.erase(name);
        if (gltf_.contains("nodes"))
            for (Json& node : gltf_["nodes"])
                for (const char* name : {"camera", "skin", "weights", "extensions", "extras"})
                    node.erase(name);
        if (gltf_.contains("meshes"))
            for (Json& mesh : gltf_["meshes"]) {
                for (const char* name : {"weights", "extras", "extensions"}) mesh.erase(name);
                for (Json& primitive : mesh["primitives"]) {
                    for (const char* name : {"targets", "extensions", "extras"}) primitive.erase(name);
                    primitive["attributes"] = {{"POSITION", primitive["attributes"]["POSITION"]}};
                }
            }
        if (gltf_.contains("materials"))
            for (Json& material : gltf_["materials"]) {
                for (const char* name : {"normalTexture", "occlusionTexture", "emissiveTexture", "extras"})
                    material.erase(name);
                if (material.contains("pbrMetallicRoughness"))
                    for (const char* name : {"baseColorTexture", "metallicRoughnessTexture"})
                        material["pbrMetallicRoughness"].erase(name);
                if (!material.contains("extensions")) continue;
                Json kept = Json::object();
                for (const char* name : {"KHR_materials_transmission", "KHR_materials_ior"})
                    if (material["extensions"].contains(name)) kept[name] = material["extensions"][name];
                if (kept.contains("KHR_materials_transmission"))
                    kept["KHR_materials_transmission"].erase("transmissionTexture");
                material["extensions"] = kept;
            }
    }

    /// The importer sorts materials anew, and moves cameras twice. With numbers as names we keep track
    /// ourselves.
    void number_names() {
        for (const char* of : {"materials", "nodes"}) {
            if (!gltf_.contains(of)) continue;
            std::size_t index = 0;
            for (Json& object : gltf_[of]) object["name"] = std::to_string(index++);
        }
    }

    const fs::path& file_;
    std::string_view bytes_, binary_;
    Json gltf_;
    std::vector<std::string> buffers_;
};

} // namespace

CheckedGltf check_gltf(const fs::path& file, std::string_view bytes) {
    try {
        return GltfCheck(file, bytes).run();
    } catch (const Json::exception&) { // a value of another type than the format says
        refuse_scene(file, "is JSON, but no glTF 2.0; export it again");
    }
}

} // namespace path_tracer
