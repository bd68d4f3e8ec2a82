// apps/path_tracer/gltf_extensions.hpp - which extensions of glTF are read, and the rest of them by name.
#pragma once
#include "gltf_file.hpp"

#include <string>

namespace path_tracer {

/// Errors  invalid_argument for a file that requires what is not read
void check_required_extensions(const GltfFile& file);

/// Names an extension that is not shown.
void name_extension(const std::string& name, NotShown& not_shown);
/// The same of all that an object has.
void name_extensions(const Json& object, NotShown& not_shown);

/// The extension of an object; null if it has none of this name.
[[nodiscard]] const Json* extension(const Json& object, const char* name);

} // namespace path_tracer
