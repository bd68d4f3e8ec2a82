// apps/program/output_file.cpp - see output_file.hpp.
#include "program/output_file.hpp"
#include "program/quiet_process.hpp"
#include "program/used_files.hpp"
#include <headrace/core/error.hpp>
#include <headrace/core/file_links.hpp>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <ios>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

namespace program {
namespace {

namespace fs = std::filesystem;
using headrace::Error;
using headrace::ErrorKind;

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
    throw Error{ErrorKind::io, file.string() + ": writing failed: " + why};
}
[[noreturn]] void refuse_file(const fs::path& file, const std::string& why) {
    throw Error{ErrorKind::invalid_argument, file.string() + ": cannot be written: " + why};
}
constexpr const char* full = "is the disk full?";

/// Devices and pipes, and what a process has open (/dev/stdout, /dev/fd/3): nothing may take its name, or
/// those who read there would not see it.
bool is_written_in_place(const fs::path& file) {
    std::error_code ignored;
    if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored) && !fs::is_directory(file, ignored))
        return true;
    const auto is_of_process = [](const fs::path& path) { return path.string().starts_with("/proc/"); };
    return fs::is_symlink(file, ignored) && (is_of_process(fs::read_symlink(file, ignored)) ||
                                             is_of_process(fs::canonical(file.parent_path(), ignored)));
}

void write_in_place(const fs::path& file, std::string_view bytes) {
    errno = 0;
    std::ofstream stream(file, std::ios::binary | std::ios::app);
    if (!stream) fail(file, std::generic_category().message(errno));
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream.close();
    if (!stream) fail(file, full);
}

/// The file that is written first. Until it takes its name it has none, where the file system can do that, so
/// that nothing is left of it however the process ends; else a name of its own, and is removed at the end.
/// That name nobody can guess, and a link that lies there is not followed: the folder may be everybody's.
class Beside {
public:
    explicit Beside(const fs::path& file) : file_(file) {
        const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
        constexpr mode_t readable = 0666; // less what the user's mask takes
        std::error_code ignored;
        if (fs::exists("/proc/self/fd", ignored)) // by which it gets a name
            descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, readable);
        if (descriptor_ < 0)
            has_name_ = try_names([&] {
                descriptor_ =
                    ::open(beside_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, readable);
                return is_open();
            });
    }
    ~Beside() {
        if (is_open()) ::close(descriptor_);
        if (has_name_) ::unlink(beside_.c_str());
    }
    Beside(const Beside&) = delete; // owns the file
    Beside& operator=(const Beside&) = delete;

    [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
    [[nodiscard]] std::string why_not() const { return error_.message(); }
    [[nodiscard]] bool write(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR) return false;
            if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
        }
        return true;
    }
    [[nodiscard]] bool take_name() {
        if (!has_name_) {
            const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
            has_name_ = try_names([&] { // it is the descriptor's link that is followed
                return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, beside_.c_str(), AT_SYMLINK_FOLLOW) == 0;
            });
            if (!has_name_) return false;
        }
        if (::close(std::exchange(descriptor_, -1)) != 0) { // where a disk says late that it is full
            error_ = std::error_code(errno, std::generic_category());
            return false;
        }
        fs::rename(beside_, file_, error_);
        has_name_ = static_cast<bool>(error_);
        return !error_;
    }

private:
    /// Until `make` has made a file called beside_, or fails for another reason than that there is one.
    template <class Make>
    bool try_names(const Make& make) {
        constexpr int tries = 100;
        for (int i = 0; i < tries; ++i) {
            std::uint64_t random = 0;
            if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) break;
            constexpr std::size_t longest = 200; // of 255, so that what is added fits
            std::ostringstream name;
            name << file_.filename().string().substr(0, longest) << '.' << std::hex << random << ".partial";
            beside_ = file_;
            beside_.replace_filename(name.str());
            if (make()) return true;
            if (errno != EEXIST) break;
        }
        error_ = std::error_code(errno, std::generic_category());
        return false;
    }

    fs::path file_, beside_;
    int descriptor_ = -1;
    bool has_name_ = false;
    std::error_code error_;
};

void fill(Beside& beside, const fs::path& file, std::string_view bytes) {
    if (!beside.is_open()) fail(file, beside.why_not());
    if (!beside.write(bytes)) fail(file, full);
}
void take_name(Beside& beside, const fs::path& file) {
    if (!beside.take_name()) fail(file, beside.why_not());
}

} // namespace

void check_overwritable(const fs::path& file) {
    if (is_quiet()) return;
    std::error_code ignored;
    if (!fs::exists(file, ignored) || fs::is_directory(file, ignored)) return check_writable(file);
    if (::access(file.c_str(), W_OK) != 0) refuse_file(file, std::generic_category().message(errno));
}

void check_writable(const fs::path& file) {
    if (is_quiet()) return;
    const auto refuse = [&](const std::string& why) { refuse_file(file, why); };
    std::error_code ignored;
    if (!file.has_filename()) refuse("it is no file name; add one");
    if (fs::is_directory(file, ignored)) refuse("it is a folder; name a file in it");
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    if (!fs::is_directory(folder, ignored))
        refuse("there is no folder " + folder.string() + "; create it first");
    if (is_written_in_place(file)) return check_overwritable(file);
    const Beside probe(headrace::behind_links(file));
    if (!probe.is_open()) refuse(probe.why_not() + "; choose another folder");
}

void write_whole(const fs::path& file, std::string_view bytes) {
    check_no_input(file);
    if (is_quiet()) return;
    if (is_written_in_place(file)) return write_in_place(file, bytes);
    Beside beside(headrace::behind_links(file));
    fill(beside, file, bytes);
    take_name(beside, file);
}

void write_output(const fs::path& file, std::string_view bytes) {
    if (file.empty()) return;
    if (file != "-") return write_whole(file, bytes);
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0)
        throw Error{ErrorKind::io, "standard output: writing failed"};
}

struct HiddenFile::Impl {
    fs::path file{};
    std::string bytes{};            ///< of what is written in place
    std::optional<Beside> beside{}; ///< of anything else
};

HiddenFile::HiddenFile(const fs::path& file, std::string bytes) : impl_(std::make_unique<Impl>()) {
    impl_->file = file;
    check_no_input(file);
    if (is_quiet()) return;
    if (is_written_in_place(file))
        impl_->bytes = std::move(bytes);
    else
        fill(impl_->beside.emplace(headrace::behind_links(file)), file, bytes);
}

HiddenFile::~HiddenFile() = default;

void HiddenFile::show() {
    if (is_quiet()) return;
    if (impl_->beside)
        take_name(*impl_->beside, impl_->file);
    else
        write_in_place(impl_->file, impl_->bytes);
}

} // namespace program
