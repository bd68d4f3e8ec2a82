// apps/path_tracer/gltf_meshopt.hpp - bufferViews that EXT_meshopt_compression has compressed. meshoptimizer
// decodes them. A program that was built without it reads none.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace path_tracer {

/// Whether this program was built with meshoptimizer.
[[nodiscard]] bool reads_meshopt();

/// What the extension says of a bufferView.
struct MeshoptView {
    std::uint64_t count;  ///< of elements
    std::uint64_t stride; ///< bytes of an element
    std::string mode;     ///< "ATTRIBUTES", "TRIANGLES" or "INDICES"
    std::string filter;   ///< "NONE", "OCTAHEDRAL", "QUATERNION" or "EXPONENTIAL"
};

/// What the extension does not allow of it, and what `compressed` bytes cannot hold. Empty: nothing.
[[nodiscard]] std::string fault_of(const MeshoptView& view, std::uint64_t compressed);

/// The bytes of a view without a fault. Nothing: these bytes were not made by the extension's encoder.
[[nodiscard]] std::optional<std::string> decode_meshopt(const MeshoptView& view, std::string_view compressed);

} // namespace path_tracer
