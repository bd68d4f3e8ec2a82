// core/cache_folder.cpp - see cache_folder.hpp.
#include <headrace/core/cache_folder.hpp>

#include <cstdlib>

namespace headrace {

std::filesystem::path cache_folder() {
    // The specification of XDG: a relative path there is to be ignored.
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
        return std::filesystem::path{cache} / "headrace";
    if (const char* home = std::getenv("HOME"); home && *home == '/')
        return std::filesystem::path{home} / ".cache" / "headrace";
    return {};
}

} // namespace headrace
