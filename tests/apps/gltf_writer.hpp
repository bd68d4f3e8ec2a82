// tests/apps/gltf_writer.hpp - glTF with accessors of any kind, in one file with its data.
#pragma once
#include "apps/gltf_builder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace path_tracer::test {

/// Numbers of an accessor, as a file has them.
struct Numbers {
    enum Component : int { i8 = 5120, u8 = 5121, i16 = 5122, u16 = 5123, u32 = 5125, f32 = 5126 };
    enum class Storage { dense, sparse, sparse_on_zeros };

    std::string type;
    std::size_t width;
    Component component = f32;
    bool is_normalized = false;
    std::vector<double> raw{}; ///< element by element
    Storage storage = Storage::dense;

    [[nodiscard]] std::size_t count() const { return raw.size() / width; }
    /// What number `i` of an element means.
    [[nodiscard]] double meant(std::size_t element, std::size_t i) const {
        const double number = raw[element * width + i];
        return is_normalized ? std::max(number / largest(), -1.0) : number;
    }
    [[nodiscard]] double largest() const {
        switch (component) {
        case i8:
            return 127;
        case u8:
            return 255;
        case i16:
            return 32767;
        case u16:
            return 65535;
        default:
            return std::numeric_limits<std::uint32_t>::max();
        }
    }
    [[nodiscard]] bool is_signed() const { return component == i8 || component == i16 || component == f32; }
};

class GltfWriter {
public:
    nlohmann::json json = {{"asset", {{"version", "2.0"}}},
                           {"accessors", nlohmann::json::array()},
                           {"bufferViews", nlohmann::json::array()}};

    /// Appends an accessor, and returns its place.
    std::size_t add(const Numbers& numbers) {
        nlohmann::json accessor = {{"componentType", static_cast<int>(numbers.component)},
                                   {"type", numbers.type},
                                   {"count", numbers.count()}};
        if (numbers.is_normalized) accessor["normalized"] = true;
        if (numbers.storage == Numbers::Storage::dense)
            accessor["bufferView"] = view(bytes_of(numbers, numbers.raw));
        else
            add_sparse(numbers, accessor);
        json["accessors"].push_back(accessor);
        return json["accessors"].size() - 1;
    }
    [[nodiscard]] std::string text() {
        json["buffers"] = {{{"byteLength", bytes_.size()},
                            {"uri", "data:application/octet-stream;base64," + base64(bytes_)}}};
        return json.dump();
    }

private:
    template <class Number>
    static void append(std::string& bytes, double value) {
        const auto number = static_cast<Number>(value);
        bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    static std::string bytes_of(const Numbers& numbers, const std::vector<double>& values) {
        std::string bytes;
        for (const double value : values) switch (numbers.component) {
            case Numbers::i8:
                append<std::int8_t>(bytes, value);
                break;
            case Numbers::u8:
                append<std::uint8_t>(bytes, value);
                break;
            case Numbers::i16:
                append<std::int16_t>(bytes, value);
                break;
            case Numbers::u16:
                append<std::uint16_t>(bytes, value);
                break;
            case Numbers::u32:
                append<std::uint32_t>(bytes, value);
                break;
            case Numbers::f32:
                append<float>(bytes, value);
                break;
            }
        return bytes;
    }
    /// What differs from 0; on top of something else if there is something below.
    void add_sparse(const Numbers& numbers, nlohmann::json& accessor) {
        std::vector<double> below = numbers.raw, indices, values;
        for (std::size_t i = 0; i < numbers.count(); ++i) {
            const auto first = numbers.raw.begin() + static_cast<std::ptrdiff_t>(i * numbers.width),
                       last = first + static_cast<std::ptrdiff_t>(numbers.width);
            if (std::all_of(first, last, [](double value) { return value == 0; })) continue;
            indices.push_back(static_cast<double>(i));
            values.insert(values.end(), first, last);
            std::fill_n(below.begin() + static_cast<std::ptrdiff_t>(i * numbers.width), numbers.width, 77.0);
        }
        if (numbers.storage == Numbers::Storage::sparse)
            accessor["bufferView"] = view(bytes_of(numbers, below));
        const Numbers places{"SCALAR", 1, Numbers::u16};
        accessor["sparse"] = {
            {"count", indices.size()},
            {"indices", {{"bufferView", view(bytes_of(places, indices))}, {"componentType", 5123}}},
            {"values", {{"bufferView", view(bytes_of(numbers, values))}}}};
    }
    std::size_t view(const std::string& bytes) {
        json["bufferViews"].push_back(
            {{"buffer", 0}, {"byteOffset", bytes_.size()}, {"byteLength", bytes.size()}});
        bytes_ += bytes;
        bytes_.resize((bytes_.size() + 3) / 4 * 4);
        return json["bufferViews"].size() - 1;
    }

    std::string bytes_;
};

} // namespace path_tracer::test
