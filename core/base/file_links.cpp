// core/base/file_links.cpp - see file_links.hpp.
#include <headrace/core/file_links.hpp>

#include <system_error>

namespace headrace {

std::filesystem::path behind_links(std::filesystem::path file) {
    constexpr int most = 40; // as the kernel follows
    std::error_code ignored;
    for (int links = 0; links < most && std::filesystem::is_symlink(file, ignored); ++links)
        file = file.parent_path() / std::filesystem::read_symlink(file, ignored);
    return file;
}

} // namespace headrace
