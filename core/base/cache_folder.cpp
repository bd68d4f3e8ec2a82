// core/base/cache_folder.cpp - see cache_folder.hpp.
#include <headrace/core/cache_folder.hpp>

#include <cerrno>
#include <cstdlib>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace headrace {

std::filesystem::path cache_folder() {
    // The XDG specification says that a relative path must be ignored.
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
        return std::filesystem::path{cache} / "headrace";
    if (const char* home = std::getenv("HOME"); home && *home == '/')
        return std::filesystem::path{home} / ".cache" / "headrace";
    return {};
}

void make_private_folder(const std::filesystem::path& folder) {
    if (folder.empty() || ::mkdir(folder.c_str(), S_IRWXU) == 0 || errno != ENOENT) return;
    make_private_folder(folder.parent_path());
    static_cast<void>(::mkdir(folder.c_str(), S_IRWXU));
}

std::filesystem::path new_file_beside(const std::filesystem::path& file) {
    std::string name = file.string() + ".XXXXXX";
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) return {};
    ::close(descriptor);
    return name;
}

} // namespace headrace
