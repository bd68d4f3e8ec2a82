// apps/path_tracer/scene_files.cpp - see scene_files.hpp.
#include "scene_files.hpp"
#include "program/used_files.hpp"
#include "scene_readers.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace path_tracer {
namespace {

namespace fs = std::filesystem;
using headrace::Error;
using headrace::ErrorKind;

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete; // owns the open file
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

bool is_below(const fs::path& folder, const fs::path& file) {
    const auto [rest_of_folder, rest_of_file] =
        std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    return rest_of_folder == folder.end() && rest_of_file != file.end();
}

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

void SceneFiles::expect_inside(std::string_view name) const {
    if (name.empty() || name.find('\0') != name.npos)
        refuse_scene(scene_, "names a file without a name; export it again");
    if (rules_.allow_outside) return;
    const fs::path place = place_of(name);
    std::error_code error;
    const fs::path folder = scene_.parent_path().empty() ? fs::path(".") : scene_.parent_path();
    const fs::path whole_folder = fs::canonical(folder, error);
    const fs::path whole = error ? fs::path() : fs::weakly_canonical(fs::absolute(place), error);
    std::string slashed(name);
    std::replace(slashed.begin(), slashed.end(), '\\', '/');
    if (error || fs::path(slashed).is_absolute() || !is_below(whole_folder, whole))
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
    const auto refuse = [&](const std::string& what) {
        throw Error{ErrorKind::invalid_argument, name + what};
    };
    const auto expect_regular = [&](const struct stat& what) {
        if (S_ISDIR(what.st_mode)) refuse("is a folder, not a file; name a file");
        if (!S_ISREG(what.st_mode)) refuse("is a device or a pipe, not a file; copy it to a file");
    };
    struct stat what {};
    if (::stat(file.c_str(), &what) != 0)
        refuse("cannot be read (" + std::generic_category().message(errno) + "); copy it there");
    expect_regular(what); // before it is opened: that alone moves some devices
    // It may have become something else since: then opening must not wait.
    const Descriptor open(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (open.number() < 0 || ::fstat(open.number(), &what) != 0)
        refuse("cannot be read (" + std::generic_category().message(errno) + "); check its permissions");
    expect_regular(what);
    program::note_input(open.number(), file.string());
    const auto size = static_cast<std::uint64_t>(what.st_size);
    if (size > rules_.largest)
        refuse("has " + std::to_string(size) + " bytes, more than --max-file-size " +
               std::to_string(rules_.largest) + "; allow more, or make it smaller");
    if (size == 0) refuse("is empty; copy or export it again");
    std::string bytes(size, '\0');
    for (std::size_t have = 0; have < bytes.size();) {
        const ssize_t more = ::read(open.number(), bytes.data() + have, bytes.size() - have);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) throw Error{ErrorKind::io, name + "cannot be read to its end; check the disk"};
        have += static_cast<std::size_t>(more);
    }
    return bytes;
}

} // namespace path_tracer
