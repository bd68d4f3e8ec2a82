// apps/program/used_files.cpp - see used_files.hpp.
#include "program/used_files.hpp"
#include "program/numbers.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace program {
namespace {

namespace fs = std::filesystem;

using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity_of(const struct stat& what) {
    if (!S_ISREG(what.st_mode)) return std::nullopt;
    return Identity{what.st_dev, what.st_ino};
}
std::optional<Identity> identity_of(const fs::path& file) {
    struct stat what {};
    return ::stat(file.c_str(), &what) == 0 ? identity_of(what) : std::nullopt;
}
std::optional<Identity> identity_of(int descriptor) {
    struct stat what {};
    return ::fstat(descriptor, &what) == 0 ? identity_of(what) : std::nullopt;
}

/// Without links on the way to it, if it is there or will be a regular file.
fs::path whole_name(const fs::path& file) {
    std::error_code ignored;
    if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) return {};
    return fs::weakly_canonical(fs::absolute(file, ignored), ignored);
}

/// A name for what a process has open: /dev/stderr, /dev/fd/3. It is written as it is, and may be the same
/// file as a standard stream.
bool names_a_descriptor(const fs::path& file) {
    std::error_code ignored;
    return fs::is_symlink(file, ignored) &&
           (fs::read_symlink(file, ignored).string().starts_with("/proc/") ||
            fs::canonical(file.parent_path(), ignored).string().starts_with("/proc/"));
}

struct Output {
    std::string owner;
    fs::path name;   ///< as it was given
    fs::path whole;  ///< empty: no regular file
    int stream = -1; ///< a standard stream, which has no name
    [[nodiscard]] std::optional<Identity> identity() const {
        return stream >= 0 ? identity_of(stream) : whole.empty() ? std::nullopt : identity_of(whole);
    }
};

/// Files whose number only shows when they are written.
struct Family {
    std::string owner;
    fs::path folder; ///< without links on the way to it
    std::function<bool(const std::string& name)> is_ours;
    [[nodiscard]] bool has(const fs::path& whole) const {
        return whole.parent_path() == folder && is_ours(whole.filename().string());
    }
};

class UsedFiles {
public:
    void add_input(const std::optional<Identity>& which, const std::string& name) {
        const std::lock_guard lock(mutex_);
        if (!which) return;
        for (const Family& family : families_)
            if (family.has(whole_name(name))) refuse_family(family, name);
        for (const Output& output : outputs_)
            if (output.identity() == which)
                refuse(name + ": is read, and " + output.owner +
                       " would be written to it; name another file");
        if (inputs_.emplace(*which, name).second) input_names_.push_back(name);
    }
    void forget_input(const std::string& name) {
        const std::lock_guard lock(mutex_);
        std::erase_if(inputs_, [&](const auto& input) { return input.second == name; });
        std::erase(input_names_, name);
    }
    void add_output(Output output) {
        const std::lock_guard lock(mutex_);
        expect_no_input(output.identity(), output.name.string());
        for (const Family& family : families_)
            if (family.owner != output.owner && family.has(output.whole))
                refuse_family(family, output.name.string());
        for (const Output& other : outputs_)
            if (other.owner != output.owner && is_one_file(other, output))
                refuse(other.owner + " and " + output.owner + " are both written to " +
                       (output.name == "-" ? "standard output" : output.name.string()) +
                       "; name another file");
        outputs_.push_back(std::move(output));
    }
    void add_family(Family family) {
        const std::lock_guard lock(mutex_);
        for (const std::string& name : input_names_)
            if (family.has(whole_name(name))) refuse_family(family, name);
        for (const Output& output : outputs_)
            if (output.owner != family.owner && family.has(output.whole))
                refuse_family(family, output.name.string());
        families_.push_back(std::move(family));
    }
    void check(const std::optional<Identity>& which, const std::string& name) {
        const std::lock_guard lock(mutex_);
        expect_no_input(which, name);
    }
    void forget() {
        const std::lock_guard lock(mutex_);
        inputs_.clear();
        input_names_.clear();
        outputs_.clear();
        families_.clear();
    }

private:
    [[noreturn]] static void refuse_family(const Family& family, const std::string& name) {
        refuse(name + ": may be overwritten by " + family.owner + "; name another file or folder");
    }
    void expect_no_input(const std::optional<Identity>& which, const std::string& name) const {
        const auto input = which ? inputs_.find(*which) : inputs_.end();
        if (input != inputs_.end())
            refuse(name + ": would be written, and is " +
                   (input->second == name ? "the input" : "the input " + input->second) +
                   "; name another file");
    }
    static bool is_one_file(const Output& one, const Output& other) {
        if (one.stream >= 0 && other.stream >= 0) return false;
        if (one.name == "-" || other.name == "-") return one.name == other.name;
        if (!one.whole.empty() && one.whole == other.whole) return true;
        const auto identity = one.identity();
        return identity && identity == other.identity();
    }

    std::mutex mutex_;
    std::map<Identity, std::string> inputs_;
    std::vector<std::string> input_names_; // in the order of opening, for messages
    std::vector<Output> outputs_;
    std::vector<Family> families_;
};

UsedFiles& used_files() {
    static UsedFiles files;
    return files;
}

std::string stream_name(int descriptor) {
    return descriptor == STDOUT_FILENO ? "standard output" : "standard error";
}

} // namespace

void note_input(const fs::path& file) { used_files().add_input(identity_of(file), file.string()); }
void note_input(int descriptor, const std::string& name) {
    used_files().add_input(identity_of(descriptor), name);
}

void forget_input(const fs::path& file) { used_files().forget_input(file.string()); }

void note_output(const std::string& owner, const fs::path& file) {
    if (names_a_descriptor(file)) return check_no_input(file);
    used_files().add_output({owner, file, file == "-" ? fs::path() : whole_name(file)});
}

void note_outputs(const std::string& owner, const fs::path& folder,
                  std::function<bool(const std::string& name)> is_ours) {
    std::error_code ignored;
    used_files().add_family(
        {owner, fs::weakly_canonical(fs::absolute(folder.empty() ? "." : folder, ignored), ignored),
         std::move(is_ours)});
}

void check_no_input(const fs::path& file) { used_files().check(identity_of(file), file.string()); }
void check_no_input(int descriptor, const std::string& name) {
    used_files().check(identity_of(descriptor), name);
}

void note_standard_streams() {
    for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO})
        used_files().add_output({stream_name(descriptor), stream_name(descriptor), {}, descriptor});
}

void forget_used_files() { used_files().forget(); }

} // namespace program
