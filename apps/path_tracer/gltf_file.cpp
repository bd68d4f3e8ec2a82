// apps/path_tracer/gltf_file.cpp - see gltf_file.hpp.
#include "gltf_file.hpp"
#include "gltf_extensions.hpp"
#include "gltf_meshopt.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace path_tracer {
namespace {

constexpr std::uint32_t glb_magic = 0x46546C67, json_chunk = 0x4E4F534A, binary_chunk = 0x004E4942;
constexpr std::uint64_t bytes_limit = std::uint64_t{1} << 40; // keeps sums of sizes far from wrapping round
constexpr std::uint64_t zeros_limit = 1 << 24;                ///< elements that no byte stands for
// Of decoded bytes: so many, and so many times the buffers. The best that meshoptimizer does is 64 times; the
// best of Draco on a smooth surface is about 600 times what it needs to decode.
constexpr std::uint64_t decoded_limit = 64 << 20, decoded_ratio = 2048;
constexpr std::uint64_t signed_byte = 5120, unsigned_byte = 5121, signed_short = 5122, unsigned_short = 5123,
                        unsigned_int = 5125, single = 5126;

std::uint32_t word_at(std::string_view bytes, std::size_t offset) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
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
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes.push_back(static_cast<char>(bits >> count & 0xff));
    }
    return bytes;
}

/// "%C3%BC" is two bytes; a '%' that no two digits follow is itself.
std::string without_percents(std::string_view text) {
    const auto digit = [](char letter) {
        return letter >= '0' && letter <= '9'   ? letter - '0'
               : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
               : letter >= 'A' && letter <= 'F' ? letter - 'A' + 10
                                                : -1;
    };
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_coded =
            text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
        bytes.push_back(is_coded ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i]);
        if (is_coded) i += 2;
    }
    return bytes;
}

std::uint64_t size_of(std::uint64_t component) {
    switch (component) {
    case signed_byte:
    case unsigned_byte:
        return 1;
    case signed_short:
    case unsigned_short:
        return 2;
    case unsigned_int:
    case single:
        return 4;
    default:
        return 0;
    }
}

/// glTF is little-endian, and so is every machine that this runs on.
template <class Number>
Number number_at(const char* bytes) {
    Number number;
    std::memcpy(&number, bytes, sizeof number);
    return number;
}

double value_at(const char* bytes, std::uint64_t component) {
    switch (component) {
    case signed_byte:
        return number_at<std::int8_t>(bytes);
    case unsigned_byte:
        return number_at<std::uint8_t>(bytes);
    case signed_short:
        return number_at<std::int16_t>(bytes);
    case unsigned_short:
        return number_at<std::uint16_t>(bytes);
    case unsigned_int:
        return number_at<std::uint32_t>(bytes);
    default:
        return double{number_at<float>(bytes)};
    }
}

double largest_of(std::uint64_t component) {
    switch (component) {
    case signed_byte:
        return std::numeric_limits<std::int8_t>::max();
    case unsigned_byte:
        return std::numeric_limits<std::uint8_t>::max();
    case signed_short:
        return std::numeric_limits<std::int16_t>::max();
    case unsigned_short:
        return std::numeric_limits<std::uint16_t>::max();
    default:
        return 1;
    }
}

} // namespace

const char* GltfAccessor::element(std::uint64_t i) const {
    if (!replaced_.empty()) {
        const auto found = replaced_.find(i);
        if (found != replaced_.end()) return found->second;
    }
    return data_ == nullptr ? nullptr : data_ + i * stride_;
}

std::uint64_t GltfAccessor::index(std::uint64_t i) const {
    const char* const bytes = element(i);
    return bytes == nullptr ? 0 : static_cast<std::uint64_t>(value_at(bytes, component_));
}

void GltfAccessor::read(std::uint64_t i, std::span<double> numbers) const {
    const char* const bytes = element(i);
    if (bytes == nullptr) return;
    for (std::size_t place = 0; place < std::min(size_, numbers.size()); ++place) {
        numbers[place] = value_at(bytes + place * size_of(component_), component_);
        if (is_normalized_) numbers[place] = std::max(numbers[place] / largest_of(component_), -1.0);
    }
}

std::array<double, 4> GltfAccessor::numbers(std::uint64_t i) const {
    std::array<double, 4> numbers{};
    read(i, numbers);
    return numbers;
}

std::array<double, 16> GltfAccessor::matrix(std::uint64_t i) const {
    std::array<double, 16> numbers{};
    read(i, numbers);
    return numbers;
}

bool GltfAccessor::has_whole_numbers() const {
    return !is_normalized_ &&
           (component_ == unsigned_byte || component_ == unsigned_short || component_ == unsigned_int);
}

bool GltfAccessor::has_fractions() const {
    return component_ == single ||
           (is_normalized_ && (component_ == unsigned_byte || component_ == unsigned_short));
}

Point GltfAccessor::point(std::uint64_t i) const {
    const std::array<double, 4> xyz = numbers(i);
    return {xyz[0], xyz[1], xyz[2]};
}

void GltfAccessor::read_from(const char* packed) {
    data_ = packed;
    stride_ = size_of(component_) * size_;
    replaced_.clear();
}

GltfFile::GltfFile(const SceneFiles& files, std::string_view bytes) : files_(files) {
    const bool is_binary = bytes.size() >= 4 && word_at(bytes, 0) == glb_magic;
    const std::string_view text = is_binary ? open_glb(bytes) : bytes;
    root_ = Json::parse(text.begin(), text.end(), nullptr, false);
    if (root_.is_discarded()) refuse("is not valid JSON; it is damaged or truncated, export it again");
    if (!root_.is_object() || !root_.contains("asset")) refuse("is no glTF: it has no \"asset\"");
    if (this->text(root_["asset"], "version").rfind("2.", 0) != 0)
        refuse("is not glTF 2.x; export it as glTF 2.0");
    for (const char* name : {"nodes", "scenes", "meshes", "materials", "accessors", "bufferViews", "buffers"})
        static_cast<void>(list(name));
}

void GltfFile::refuse(const std::string& what) const { refuse_scene(files_.scene(), what); }

const Json& GltfFile::list(const Json& object, const char* name) const {
    static const Json none = Json::array();
    const auto found = object.find(name);
    if (found == object.end()) return none;
    if (!found->is_array()) refuse('"' + std::string(name) + "\" is no list; export it again");
    return *found;
}

std::uint64_t GltfFile::size(const Json& object, const char* name, std::uint64_t fallback) const {
    const auto found = object.find(name);
    if (found == object.end()) return fallback;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() > bytes_limit)
        refuse('"' + std::string(name) + "\" is no size that makes sense; export it again");
    return found->get<std::uint64_t>();
}

double GltfFile::number(const Json& object, const char* name, double fallback) const {
    const auto found = object.find(name);
    if (found == object.end()) return fallback;
    if (!found->is_number()) refuse('"' + std::string(name) + "\" is no number; export it again");
    return found->get<double>();
}

std::string GltfFile::text(const Json& object, const char* name) const {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::size_t> GltfFile::reference(const Json& object, const char* key, const char* name) const {
    if (object.find(key) == object.end()) return std::nullopt;
    const std::uint64_t index = size(object, key, 0);
    const std::size_t count = list(name).size();
    if (index >= count)
        refuse('"' + std::string(key) + "\" names " + std::to_string(index) + " of " + std::to_string(count) +
               ' ' + name + " (they count from 0); export it again");
    return index;
}

std::string_view GltfFile::open_glb(std::string_view bytes) {
    if (bytes.size() < 20 || word_at(bytes, 8) > bytes.size())
        refuse("is truncated: the header promises " +
               (bytes.size() < 12 ? std::string("more") : std::to_string(word_at(bytes, 8)) + " bytes") +
               "; copy or export it again");
    const std::uint64_t json_size = word_at(bytes, 12);
    if (word_at(bytes, 16) != json_chunk || 20 + json_size > bytes.size())
        refuse("is damaged: its first chunk is not JSON of the size it says; export it again");
    // Chunks ought to be padded to words; some exporters forget that.
    const std::uint64_t end = 20 + json_size;
    for (const std::uint64_t next : {end, (end + 3) / 4 * 4})
        if (next + 8 <= bytes.size() && word_at(bytes, next + 4) == binary_chunk) {
            if (next + 8 + word_at(bytes, next) > bytes.size())
                refuse("is truncated: the binary chunk is shorter than it says; copy or export it again");
            binary_ = bytes.substr(next + 8, word_at(bytes, next));
            break;
        }
    std::string_view text = bytes.substr(20, json_size);
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1); // padding of the wrong kind
    return text;
}

std::string_view GltfFile::buffer(std::size_t index) {
    const auto known = buffers_.find(index);
    if (known != buffers_.end()) return known->second;
    const Json& json = list("buffers")[index];
    std::string bytes = read_buffer(index, json);
    const std::uint64_t promised = size(json, "byteLength", 0);
    if (bytes.size() < promised)
        refuse("buffer " + std::to_string(index) + " is truncated: " + std::to_string(bytes.size()) +
               " bytes of " + std::to_string(promised) + "; copy or export it again");
    return buffers_.emplace(index, std::move(bytes)).first->second;
}

std::string GltfFile::read_buffer(std::size_t index, const Json& json) const {
    const std::string which = "buffer " + std::to_string(index);
    const std::string uri = text(json, "uri");
    if (uri.empty()) {
        if (!reads_meshopt() && extension(json, "EXT_meshopt_compression") != nullptr)
            refuse(which + " is compressed with EXT_meshopt_compression alone, which this program was built "
                           "without; export it uncompressed, or build with libmeshoptimizer-dev");
        if (index != 0 || binary_.data() == nullptr) refuse(which + " has no data; export it again");
        return std::string(binary_);
    }
    std::optional<std::string> bytes = read_uri(uri);
    if (!bytes) refuse(which + " has a data URI that is not base64; export it again");
    return *std::move(bytes);
}

std::string GltfFile::file_of(const std::string& uri) const {
    const std::string decoded = without_percents(uri);
    return files_.exists(decoded) || !files_.exists(uri) ? decoded : uri;
}

std::optional<std::string> GltfFile::read_uri(const std::string& uri) const {
    if (uri.rfind("data:", 0) != 0) return files_.read_named(file_of(uri));
    const auto comma = uri.find(";base64,");
    if (comma == std::string::npos) return std::nullopt;
    return decode_base64(std::string_view(uri).substr(comma + 8));
}

GltfFile::Image GltfFile::image(std::size_t index) {
    const Json& json = list("images")[index];
    const std::string uri = text(json, "uri");
    Image image{"image " + std::to_string(index)};
    if (uri.starts_with("data:")) {
        if (std::optional<std::string> bytes = read_uri(uri))
            image.bytes = *std::move(bytes);
        else
            image.fault = "has a data URI that is not base64";
    } else if (!uri.empty()) {
        image.file = file_of(uri);
    } else if (const auto place = reference(json, "bufferView", "bufferViews")) {
        const std::uint64_t bytes = size(list("bufferViews")[*place], "byteLength", 0);
        image.bytes = std::string(view(json, bytes, 1, nullptr), bytes);
    } else {
        image.fault = "has no data";
    }
    return image;
}

std::vector<std::string> GltfFile::unread_buffers() const {
    std::vector<std::string> names;
    std::size_t index = 0;
    for (const Json& json : list("buffers")) {
        const std::string uri = text(json, "uri");
        if (buffers_.count(index) == 0 && left_buffers_.count(index) == 0)
            names.push_back("buffer " + std::to_string(index) +
                            (uri.empty() || uri.starts_with("data:") ? "" : " (" + uri.substr(0, 60) + ")"));
        ++index;
    }
    return names;
}

std::string_view GltfFile::bytes_of(const Json& object) {
    const auto which = reference(object, "buffer", "buffers");
    if (!which) refuse("has a bufferView without a buffer; export it again");
    const std::string_view bytes = buffer(*which);
    const std::uint64_t begin = size(object, "byteOffset", 0), length = size(object, "byteLength", 0);
    if (begin + length > bytes.size())
        refuse("has a bufferView that reaches past its buffer of " + std::to_string(bytes.size()) +
               " bytes; it is damaged or truncated, export it again");
    return bytes.substr(begin, length);
}

std::string_view GltfFile::bytes_of_view(std::size_t index) {
    const Json& view = list("bufferViews")[index];
    const Json* const compression = reads_meshopt() ? extension(view, "EXT_meshopt_compression") : nullptr;
    if (compression == nullptr) return bytes_of(view);
    auto known = decoded_.find(index);
    if (known == decoded_.end()) known = decoded_.emplace(index, decode(index, view, *compression)).first;
    return known->second;
}

std::string GltfFile::decode(std::size_t index, const Json& view, const Json& compression) {
    const std::string which = "bufferView " + std::to_string(index) + " (EXT_meshopt_compression) ";
    const MeshoptView meshopt{size(compression, "count", 0), size(compression, "byteStride", 0),
                              text(compression, "mode"),
                              compression.contains("filter") ? text(compression, "filter") : "NONE"};
    const std::string_view bytes = bytes_of(compression);
    if (const std::string fault = fault_of(meshopt, bytes.size()); !fault.empty())
        refuse(which + fault + "; export it again");
    const std::uint64_t promised = size(view, "byteLength", 0), decoded = meshopt.count * meshopt.stride;
    if (promised != decoded || size(view, "byteStride", meshopt.stride) != meshopt.stride)
        refuse(which + "has " + std::to_string(meshopt.count) + " elements of " +
               std::to_string(meshopt.stride) + " bytes, and its bufferView says otherwise; export it again");
    if (decoded > room())
        refuse(which + "becomes " + std::to_string(decoded) +
               " bytes, which is too much for a file of this size; export it again");
    std::optional<std::string> numbers = decode_meshopt(meshopt, bytes);
    if (!numbers) refuse(which + "cannot be decoded; it is damaged or truncated, export it again");
    take_room(decoded);
    leave_buffer(view);
    return *std::move(numbers);
}

void GltfFile::leave_buffer(const Json& view) {
    const auto buffer = view.find("buffer");
    if (buffer != view.end() && buffer->is_number_unsigned())
        left_buffers_.insert(buffer->get<std::size_t>());
}

void GltfFile::leave_buffer_of(std::size_t accessor) {
    const Json& json = list("accessors")[accessor];
    const auto view = json.find("bufferView");
    if (view == json.end() || !view->is_number_unsigned()) return;
    const auto index = view->get<std::size_t>();
    if (index < list("bufferViews").size()) leave_buffer(list("bufferViews")[index]);
}

std::uint64_t GltfFile::room() const {
    std::uint64_t bytes = 0;
    for (const auto& [index, buffer] : buffers_) bytes += buffer.size();
    const std::uint64_t all = decoded_limit + decoded_ratio * bytes;
    return all - std::min(all, decoded_bytes_);
}

const char* GltfFile::view(const Json& object, std::uint64_t count, std::uint64_t element,
                           std::uint64_t* stride) {
    const auto index = reference(object, "bufferView", "bufferViews");
    if (!index) refuse("has numbers without a bufferView; export it again");
    const std::string_view bytes = bytes_of_view(*index);
    const std::uint64_t begin = size(object, "byteOffset", 0);
    const std::uint64_t distance =
        stride == nullptr ? element : size(list("bufferViews")[*index], "byteStride", element);
    if (distance < element) refuse("has a byteStride that is too small; export it again");
    const std::uint64_t last = count == 0 ? 0 : (count - 1);
    if (count > bytes_limit / 4096 || distance > 4096 ||
        begin + last * distance + (count == 0 ? 0 : element) > bytes.size())
        refuse("has an accessor of " + std::to_string(count) +
               " elements that reaches past its bufferView of " + std::to_string(bytes.size()) +
               " bytes; it is damaged or truncated, export it again");
    if (stride != nullptr) *stride = distance;
    return bytes.data() + begin;
}

GltfAccessor GltfFile::indices(const std::vector<std::uint32_t>& packed) {
    GltfAccessor result;
    result.count_ = packed.size();
    result.component_ = unsigned_int;
    result.read_from(reinterpret_cast<const char*>(packed.data()));
    return result;
}

GltfAccessor GltfFile::described(std::size_t index, std::string_view type, const std::string& of) const {
    const Json& json = list("accessors")[index];
    GltfAccessor result;
    result.count_ = size(json, "count", 0);
    result.component_ = size(json, "componentType", 0);
    const auto normalized = json.find("normalized");
    result.is_normalized_ = normalized != json.end() && normalized->is_boolean() && normalized->get<bool>();
    const bool is_matrix = type == "MAT4";
    result.size_ = is_matrix ? 16 : type == "VEC4" ? 4 : type == "VEC3" ? 3 : type == "VEC2" ? 2 : 1;
    const bool is_vector = type != "SCALAR";
    const bool is_known = is_matrix ? result.component_ == single
                          : is_vector
                              ? size_of(result.component_) > 0 && result.component_ != unsigned_int
                              : result.component_ == unsigned_byte || result.component_ == unsigned_short ||
                                    result.component_ == unsigned_int;
    if (text(json, "type") != type || !is_known)
        refuse(of +
               (is_matrix   ? " has elements that are not four by four floats"
                : is_vector ? " has elements that are not " +
                                  std::string(result.size_ == 2   ? "two"
                                              : result.size_ == 3 ? "three"
                                                                  : "four") +
                                  " floats or short integers"
                            : " has indices that are no unsigned integers") +
               "; export it again");
    return result;
}

GltfAccessor GltfFile::accessor(std::size_t index, std::string_view type, const std::string& of) {
    const Json& json = list("accessors")[index];
    GltfAccessor result = described(index, type, of);
    const std::uint64_t element = size_of(result.component_) * result.size_;
    if (json.contains("bufferView"))
        result.data_ = view(json, result.count_, element, &result.stride_);
    else if (result.count_ > zeros_limit)
        refuse(of + " has an accessor of " + std::to_string(result.count_) +
               " elements without data; export it again");
    if (json.contains("sparse")) read_sparse(json["sparse"], element, result);
    return result;
}

void GltfFile::read_sparse(const Json& sparse, std::uint64_t element, GltfAccessor& result) {
    const std::uint64_t count = size(sparse, "count", 0);
    if (!sparse.contains("indices") || !sparse.contains("values"))
        refuse("has a sparse accessor without indices or values; export it again");
    const Json& indices = sparse["indices"];
    const std::uint64_t component = size(indices, "componentType", 0);
    if (component != unsigned_byte && component != unsigned_short && component != unsigned_int)
        refuse("has a sparse accessor whose indices are no unsigned integers; export it again");
    const char* const places = view(indices, count, size_of(component), nullptr);
    const char* const values = view(sparse["values"], count, element, nullptr);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto place = static_cast<std::uint64_t>(value_at(places + i * size_of(component), component));
        if (place >= result.count_)
            refuse("has a sparse accessor that replaces element " + std::to_string(place) + " of " +
                   std::to_string(result.count_) + "; export it again");
        result.replaced_[place] = values + i * element;
    }
}

} // namespace path_tracer
