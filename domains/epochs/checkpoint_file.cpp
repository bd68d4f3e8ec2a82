// domains/epochs/checkpoint_file.cpp - see checkpoint_file.hpp.
#include <headrace/core/error.hpp>
#include <headrace/domains/epochs.hpp>
#include <headrace/internal/domains/cluster/message.hpp>
#include <headrace/internal/domains/epochs/checkpoint_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::epochs {
namespace {

namespace fs = std::filesystem;
using cluster::Message;
using cluster::Reader;
using cluster::Writer;

/// The first byte is no text, and the line ends change if a program takes the file for text.
constexpr std::array<char, 8> magic{'\x89', 'H', 'R', 'C', '\r', '\n', '\x1a', '\n'};
constexpr std::uint32_t format = 1, byte_order = 0x01020304;
constexpr std::size_t format_at = magic.size(), order_at = 12, size_at = 16, first_size = 24;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
    throw Error{ErrorKind::invalid_argument, file.string() + ": " + why};
}
[[noreturn]] void fail_to_write(const fs::path& file, int error) {
    throw Error{ErrorKind::io, file.string() + ": the checkpoint cannot be written: " +
                                   std::generic_category().message(error)}
        .with_code(error);
}

/// A file that is open; closed at the end.
class Descriptor {
public:
    Descriptor(const fs::path& file, int flags, mode_t mode = 0)
        : number_(::open(file.c_str(), flags | O_CLOEXEC, mode)) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete; // owns the file
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int number() const noexcept { return number_; }
    [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
    /// The rest: 0, or errno.
    [[nodiscard]] int write(std::span<const std::byte> bytes) const {
        while (!bytes.empty()) {
            const ssize_t written = ::write(number_, bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR) return errno;
            if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
        }
        return 0;
    }
    [[nodiscard]] int sync_and_close() {
        const int error = ::fsync(number_) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
        const int failed = ::close(std::exchange(number_, -1)) != 0 ? errno : 0;
        return error != 0 ? error : failed;
    }

private:
    int number_;
};

/// The lines "name: value".
std::map<std::string, std::string> lines_of(const std::string& text) {
    std::map<std::string, std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        const auto colon = line.find(": ");
        lines[line.substr(0, colon)] = colon == std::string::npos ? "" : line.substr(colon + 2);
    }
    return lines;
}

/// How two identities differ; empty: they do not.
std::string difference(const Identity& stored, const Identity& wanted) {
    if (stored.text == wanted.text && stored.units == wanted.units) return {};
    const auto theirs = lines_of(stored.text), mine = lines_of(wanted.text);
    const auto value = [](const auto& lines, const std::string& name) {
        const auto found = lines.find(name);
        return found == lines.end() ? std::string("nothing") : found->second;
    };
    std::vector<std::string> parts;
    const auto compare = [&](const std::string& name) {
        if (value(theirs, name) != value(mine, name))
            parts.push_back(
                fmt::format("{}: {} there, {} here", name, value(theirs, name), value(mine, name)));
    };
    for (const auto& [name, ignored] : theirs) compare(name);
    for (const auto& [name, ignored] : mine)
        if (!theirs.contains(name)) compare(name);
    if (stored.units != wanted.units)
        parts.push_back(fmt::format("units: {} to {} there, {} to {} here", stored.units.begin,
                                    stored.units.end, wanted.units.begin, wanted.units.end));
    constexpr std::size_t most = 4;
    if (parts.size() > most) parts.resize(most);
    return parts.empty() ? "its description has the same lines in another order"
                         : fmt::format("{}", fmt::join(parts, "; "));
}

Message content_of(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error))
        throw Error{ErrorKind::not_found, file.string() + ": there is no such checkpoint"};
    if (!fs::is_regular_file(file, error)) refuse(file, "is no file, and so no checkpoint");
    const Descriptor open(file, O_RDONLY);
    const auto fail = [&] {
        throw Error{ErrorKind::io,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};
    };
    struct stat about {};
    if (!open.is_open() || ::fstat(open.number(), &about) != 0) fail();
    Message bytes(static_cast<std::size_t>(about.st_size));
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t read = ::read(open.number(), bytes.data() + have, bytes.size() - have);
        if (read < 0 && errno == EINTR) continue;
        if (read < 0) fail();
        if (read == 0) break; // it has become shorter
        have += static_cast<std::size_t>(read);
    }
    bytes.resize(have);
    return bytes;
}

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

constexpr const char* what_to_do = "use an earlier copy of it, or begin anew without --resume";

/// The file is a whole checkpoint, in this format.
void check_frame(const fs::path& file, std::span<const std::byte> bytes) {
    const std::size_t known = std::min(bytes.size(), magic.size());
    if (!std::ranges::equal(bytes.first(known), std::as_bytes(std::span(magic)).first(known)))
        refuse(file, "is no checkpoint of Headrace");
    const auto truncated = [&](const std::string& of) {
        refuse(file, fmt::format("is truncated: it has {} bytes{}; {}", bytes.size(), of, what_to_do));
    };
    if (bytes.size() < first_size) truncated("");
    if (const auto found = number_at<std::uint32_t>(bytes, format_at); found != format)
        refuse(file,
               fmt::format("is a checkpoint in format {}, and this version of Headrace reads format {}; "
                           "resume it with the version that has written it",
                           found, format));
    if (number_at<std::uint32_t>(bytes, order_at) != byte_order)
        refuse(file, "comes from a processor with another byte order; resume it there");
    const auto size = number_at<std::uint64_t>(bytes, size_at);
    if (bytes.size() < size) truncated(fmt::format(" of {}", size));
    const std::size_t sum_at = bytes.size() - std::min(bytes.size(), sizeof(std::uint64_t));
    if (bytes.size() > size || number_at<std::uint64_t>(bytes, sum_at) != checksum(bytes.first(sum_at)))
        refuse(file, std::string("is corrupted: its checksum is wrong; ") + what_to_do);
}

fs::path behind_links(const fs::path& file) {
    std::error_code nowhere;
    const fs::path found = fs::canonical(file, nowhere);
    return nowhere ? file : found;
}

/// The name of the new file is on the disk too. If the folder cannot tell, nothing can be done.
void sync_folder(const fs::path& file) {
    const Descriptor folder(file.has_parent_path() ? file.parent_path() : fs::path("."),
                            O_RDONLY | O_DIRECTORY);
    if (folder.is_open()) static_cast<void>(::fsync(folder.number()));
}

} // namespace

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t before) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
    std::uint64_t sum = before;
    // For one word, each step maps different sums to different sums.
    const auto add = [&](std::uint64_t word) {
        sum = (sum ^ word) * odd;
        sum ^= sum >> 32;
    };
    while (bytes.size() >= sizeof(std::uint64_t)) {
        add(number_at<std::uint64_t>(bytes, 0));
        bytes = bytes.subspan(sizeof(std::uint64_t));
    }
    std::uint64_t last = 0;
    std::memcpy(&last, bytes.data(), bytes.size());
    if (!bytes.empty()) add(last);
    return sum;
}

void write_checkpoint(const fs::path& file, const Identity& identity, const Snapshot& snapshot) {
    Writer head;
    for (const char letter : magic) head.put(letter);
    const std::string version = HEADRACE_VERSION;
    constexpr std::size_t word = sizeof(std::uint64_t);
    // Whole words, so that the checksum needs no copy of the snapshot.
    const std::string padding((word - (version.size() + identity.text.size()) % word) % word, ' ');
    const std::uint64_t head_size =
        first_size + 3 * word + version.size() + identity.text.size() + padding.size() + 4 * word;
    head.put(format).put(byte_order).put<std::uint64_t>(head_size + snapshot.bytes.size() + word);
    head.put(version).put(identity.text).put(padding);
    head.put(identity.units.begin).put(identity.units.end).put(snapshot.done);
    head.put<std::uint64_t>(snapshot.bytes.size());
    const Message before = head.take();
    const std::uint64_t sum = checksum(snapshot.bytes, checksum(before));

    const fs::path target = behind_links(file);
    std::error_code ignored;
    if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored)) fail_to_write(file, EINVAL);
    // One name, so that nothing heaps up if the process is killed again and again.
    fs::path draft = target;
    draft += ".partial";
    fs::remove(draft, ignored);
    constexpr mode_t readable = 0666; // less what the user's mask takes
    Descriptor open(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, readable);
    if (!open.is_open()) fail_to_write(file, errno);
    int error = open.write(before);
    if (error == 0) error = open.write(snapshot.bytes);
    if (error == 0) error = open.write(std::as_bytes(std::span(&sum, 1)));
    if (error == 0) error = open.sync_and_close();
    if (error == 0 && ::rename(draft.c_str(), target.c_str()) != 0) error = errno;
    if (error != 0) {
        fs::remove(draft, ignored);
        fail_to_write(file, error);
    }
    sync_folder(target);
}

Snapshot read_checkpoint(const fs::path& file, const Identity& identity) {
    const Message bytes = content_of(file);
    if (bytes.empty()) refuse(file, std::string("is empty, and so no checkpoint; ") + what_to_do);
    check_frame(file, bytes);
    Reader reader(std::span<const std::byte>(bytes).subspan(first_size));
    const std::string version = reader.text();
    if (version != HEADRACE_VERSION)
        refuse(file, fmt::format("was written by Headrace {}, and this is {}; resume it with that version",
                                 version, HEADRACE_VERSION));
    Identity stored;
    stored.text = reader.text();
    static_cast<void>(reader.bytes()); // padding
    stored.units.begin = reader.get<std::uint64_t>();
    stored.units.end = reader.get<std::uint64_t>();
    if (const std::string other = difference(stored, identity); !other.empty())
        refuse(file, "is the checkpoint of another computation (" + other + ")");
    Snapshot snapshot;
    snapshot.done = reader.get<std::uint64_t>();
    const auto body = reader.bytes();
    snapshot.bytes.assign(body.begin(), body.end());
    if (snapshot.done < identity.units.begin || snapshot.done > identity.units.end)
        refuse(file, std::string("is corrupted: it has units that the job does not have; ") + what_to_do);
    return snapshot;
}

} // namespace headrace::epochs

namespace headrace {

std::string fingerprint(std::span<const std::byte> bytes) {
    return fmt::format("{:016x}", epochs::checksum(bytes, bytes.size()));
}

} // namespace headrace
