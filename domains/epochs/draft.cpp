// domains/epochs/draft.cpp - see draft.hpp.
#include "epochs/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <system_error>

#include <sys/file.h>
#include <sys/stat.h>

namespace headrace::epochs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits = 16; // of the number in the name
constexpr std::string_view ending = ".partial";

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : "."; }

/// As a part of a name.
std::string this_host() {
    std::array<char, 65> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "host";
    std::string host = name.data();
    for (char& letter : host)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '-') letter = '_';
    return host;
}

/// How the names of drafts of this file begin.
std::string beginning(const fs::path& file) {
    constexpr std::size_t longest = 150; // of 255, so that what is added fits
    return file.filename().string().substr(0, longest) + '.';
}

fs::path new_name(const fs::path& file) {
    std::random_device random;
    const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
    fs::path name = file;
    return name.replace_filename(
        fmt::format("{}{}.{:0{}x}{}", beginning(file), this_host(), number, digits, ending));
}

enum class Lock { taken, of_another, unknown };
Lock lock(const Descriptor& file) {
    if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) return Lock::taken;
    return errno == EWOULDBLOCK ? Lock::of_another : Lock::unknown; // some file systems have no locks
}

/// Its name is never used again. So this removes no other file, whatever its writer does meanwhile.
void remove_if_left(const fs::path& draft, bool is_of_this_host) {
    constexpr std::time_t a_day =
        std::time_t{24} * 60 * 60; // clocks of hosts differ, and a lock may be seen by one alone
    const Descriptor open(draft, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat about {};
    if (!open.is_open() || ::fstat(open.number(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    const Lock found = lock(open);
    if (found == Lock::of_another) return;
    if ((is_of_this_host && found == Lock::taken) || std::time(nullptr) - about.st_mtime > a_day)
        ::unlink(draft.c_str());
}

void remove_those_left(const fs::path& file) {
    const std::string begin = beginning(file), host = this_host();
    std::error_code ignored;
    for (fs::directory_iterator entry(folder_of(file), ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
        const std::string name = entry->path().filename().string();
        std::string_view rest = name;
        if (!rest.starts_with(begin) || !rest.ends_with(ending)) continue;
        if (rest.size() < begin.size() + 1 + digits + ending.size()) continue;
        rest = rest.substr(begin.size(), rest.size() - begin.size() - ending.size());
        const std::string_view number = rest.substr(rest.size() - digits),
                               of = rest.substr(0, rest.size() - digits);
        if (of.ends_with('.') && number.find_first_not_of("0123456789abcdef") == std::string_view::npos)
            remove_if_left(entry->path(), of.substr(0, of.size() - 1) == host);
    }
}

/// As far as the user may: else the group has the rights of all others.
void give_rights_of(const struct stat& earlier, int file) {
    mode_t mode = earlier.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    struct stat mine {};
    if (::fstat(file, &mine) == 0 && mine.st_gid != earlier.st_gid &&
        ::fchown(file, static_cast<uid_t>(-1), earlier.st_gid) != 0)
        mode = (mode & ~mode_t{S_IRWXG}) | ((mode & S_IRWXO) << 3);
    static_cast<void>(!::fchmod(file, mode)); // a file system without modes
}

} // namespace

Draft::Draft(const fs::path& file) : file_(file) {
    remove_those_left(file);
    std::error_code ignored;
    // Less what the user's mask takes; or no other user reads it until it has the rights of the earlier file.
    const mode_t mode = fs::exists(file, ignored) ? 0600 : 0666;
    constexpr int tries = 100;
    for (int i = 0; i < tries; ++i) {
        draft_ = new_name(file);
        open_.open(draft_, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, mode);
        error_ = open_.is_open() ? 0 : errno;
        if (error_ == EEXIST) continue;
        if (error_ != 0) return;
        has_name_ = true;
        struct stat about {};
        // Before it was locked, another writer may have taken it for one that was left.
        if (lock(open_) != Lock::of_another && ::fstat(open_.number(), &about) == 0 && about.st_nlink > 0)
            return;
        ::unlink(draft_.c_str());
        has_name_ = false;
        error_ = EAGAIN;
    }
}

Draft::~Draft() {
    if (has_name_) ::unlink(draft_.c_str());
}

int Draft::take_name() {
    struct stat earlier {};
    if (::stat(file_.c_str(), &earlier) == 0) give_rights_of(earlier, open_.number());
    if (::fsync(open_.number()) != 0 && errno != EINVAL && errno != EROFS) return errno;
    if (::rename(draft_.c_str(), file_.c_str()) != 0) return errno;
    has_name_ = false;
    // The name is on the disk too. If the folder cannot tell, nothing can be done.
    const Descriptor folder(folder_of(file_), O_RDONLY | O_DIRECTORY);
    if (folder.is_open()) static_cast<void>(::fsync(folder.number()));
    return 0;
}

} // namespace headrace::epochs
