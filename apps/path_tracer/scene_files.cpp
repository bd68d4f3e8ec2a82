// apps/path_tracer/scene_files.cpp - see scene_files.hpp.
#include "scene_files.hpp"
#include "program/named_file.hpp"
#include "scene_readers.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace path_tracer {
namespace {

namespace fs = std::filesystem;
using headrace::Error;
using headrace::ErrorKind;

} // namespace

SceneFiles::SceneFiles(fs::path scene, FileRules rules) : scene_(std::move(scene)), rules_(rules) {}

std::string SceneFiles::read_scene() const {
    std::error_code ignored;
    if (!fs::exists(scene_, ignored))
        throw Error{ErrorKind::not_found, scene_.string() + ": there is no such file; check --scene"};
    return read(scene_, "");
}

fs::path SceneFiles::place_of(std::string_view name) const {
    std::error_code ignored;
    fs::path place = scene_.parent_path() / name;
    if (name.find('\\') == name.npos || fs::exists(place, ignored)) return place;
    std::string slashed(name); // as Windows writes it
    std::replace(slashed.begin(), slashed.end(), '\\', '/');
    return scene_.parent_path() / slashed;
}

bool SceneFiles::exists(std::string_view name) const {
    std::error_code ignored;
    return !name.empty() && name.find('\0') == name.npos && fs::exists(place_of(name), ignored);
}

bool SceneFiles::is_empty(std::string_view name) const {
    std::error_code ignored;
    return fs::is_regular_file(place_of(name), ignored) && fs::file_size(place_of(name), ignored) == 0;
}

void SceneFiles::expect_inside(std::string_view name) const {
    if (name.empty() || name.find('\0') != name.npos)
        refuse_scene(scene_, "names a file without a name; export it again");
    if (rules_.allow_outside) return;
    std::string slashed(name);
    std::replace(slashed.begin(), slashed.end(), '\\', '/');
    if (fs::path(slashed).is_absolute() || !program::is_below_folder_of(scene_, place_of(name)))
        refuse_scene(scene_, "names the file " + std::string(name.substr(0, 200)) +
                                 ", which is not below the scene's folder; copy it there, or allow it with "
                                 "--allow-outside");
}

std::string SceneFiles::read_named(std::string_view name) const {
    expect_inside(name);
    const fs::path place = place_of(name);
    return read(place, scene_.string() + ": names the file ");
}

std::string SceneFiles::read(const fs::path& file, const std::string& whose) const {
    const std::string name = whose + file.string() + (whose.empty() ? ": " : ", which ");
    return program::read_regular_file(file, name, rules_.largest,
                                      "--max-file-size " + std::to_string(rules_.largest));
}

} // namespace path_tracer
