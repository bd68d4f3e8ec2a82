// apps/path_tracer/gltf_meshopt.cpp - see gltf_meshopt.hpp.
#include "gltf_meshopt.hpp"
#include "text_lines.hpp"

#ifdef HEADRACE_MESHOPTIMIZER
    #include <meshoptimizer.h>
#endif

namespace path_tracer {
namespace {

constexpr std::uint64_t count_limit = std::uint64_t{1} << 32; ///< keeps products with strides from wrapping

/// The least bytes that as many elements take, whatever they are: the library looks at these only after it
/// has been given room for all elements.
std::uint64_t fewest_bytes(const MeshoptView& view) {
    if (view.mode == "TRIANGLES") return 1 + view.count / 3 + 16; // a header, a code each, a table
    if (view.mode == "INDICES") return 1 + view.count + 4;        // a header, a byte each, a tail
    return 1 + view.count * view.stride / 64; // a header, two bits for 16 elements of each byte
}

} // namespace

std::string fault_of(const MeshoptView& view, std::uint64_t compressed) {
    const bool is_attributes = view.mode == "ATTRIBUTES";
    if (!is_attributes && view.mode != "TRIANGLES" && view.mode != "INDICES")
        return "has the mode \"" + excerpt(view.mode) + "\", which there is not";
    if (is_attributes ? view.stride % 4 != 0 || view.stride == 0 || view.stride > 256
                      : view.stride != 2 && view.stride != 4)
        return "has the byteStride " + std::to_string(view.stride) +
               (is_attributes ? ", which is none of 4, 8, ... 256" : ", which is neither 2 nor 4");
    const bool is_octahedral = view.filter == "OCTAHEDRAL", is_quaternion = view.filter == "QUATERNION";
    const bool is_filtered = view.filter != "NONE";
    if (is_filtered && !is_octahedral && !is_quaternion && view.filter != "EXPONENTIAL")
        return "has the filter \"" + excerpt(view.filter) + "\", which there is not";
    if ((is_filtered && !is_attributes) || (is_octahedral && view.stride != 4 && view.stride != 8) ||
        (is_quaternion && view.stride != 8))
        return "has the filter " + view.filter + " for " + view.mode + " of " + std::to_string(view.stride) +
               " bytes";
    if (view.mode == "TRIANGLES" && view.count % 3 != 0)
        return "has " + std::to_string(view.count) + " indices, which are not triangles";
    if (view.count > count_limit || fewest_bytes(view) > compressed)
        return "has " + std::to_string(view.count) + " elements in " + std::to_string(compressed) +
               " bytes, which are too few";
    return {};
}

#ifdef HEADRACE_MESHOPTIMIZER

bool reads_meshopt() { return true; }

std::optional<std::string> decode_meshopt(const MeshoptView& view, std::string_view compressed) {
    std::string bytes(view.count * view.stride, '\0');
    const auto* const from = reinterpret_cast<const unsigned char*>(compressed.data());
    const int fault =
        view.mode == "TRIANGLES"
            ? meshopt_decodeIndexBuffer(bytes.data(), view.count, view.stride, from, compressed.size())
        : view.mode == "INDICES"
            ? meshopt_decodeIndexSequence(bytes.data(), view.count, view.stride, from, compressed.size())
            : meshopt_decodeVertexBuffer(bytes.data(), view.count, view.stride, from, compressed.size());
    if (fault != 0) return std::nullopt;
    if (view.filter == "OCTAHEDRAL") meshopt_decodeFilterOct(bytes.data(), view.count, view.stride);
    if (view.filter == "QUATERNION") meshopt_decodeFilterQuat(bytes.data(), view.count, view.stride);
    if (view.filter == "EXPONENTIAL") meshopt_decodeFilterExp(bytes.data(), view.count, view.stride);
    return bytes;
}

#else

bool reads_meshopt() { return false; }

std::optional<std::string> decode_meshopt(const MeshoptView& /*view*/, std::string_view /*compressed*/) {
    return std::nullopt;
}

#endif

} // namespace path_tracer
