// apps/program/named_file.cpp - see named_file.hpp.
#include "named_file.hpp"
#include "used_files.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace program {
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

} // namespace

bool is_below_folder_of(const fs::path& file, const fs::path& place) {
    std::error_code error;
    const fs::path parent = file.parent_path().empty() ? fs::path(".") : file.parent_path();
    const fs::path folder = fs::canonical(parent, error);
    const fs::path whole = error ? fs::path() : fs::weakly_canonical(fs::absolute(place), error);
    if (error) return false;
    const auto [rest_of_folder, rest_of_file] =
        std::mismatch(folder.begin(), folder.end(), whole.begin(), whole.end());
    return rest_of_folder == folder.end() && rest_of_file != whole.end();
}

std::string read_regular_file(const fs::path& file, const std::string& name, std::uint64_t largest,
                              const std::string& limit) {
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
    note_input(open.number(), file.string());
    const auto size = static_cast<std::uint64_t>(what.st_size);
    if (size > largest)
        refuse("has " + std::to_string(size) + " bytes, more than " + limit +
               "; allow more, or make it smaller");
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

} // namespace program
