// domains/epochs/checkpoint_file.cpp - see checkpoint_file.hpp.
#include "epochs/draft.hpp"
#include <headrace/core/error.hpp>
#include <headrace/core/file_links.hpp>
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
#include <new>
#include <sstream>
#include <system_error>
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

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

constexpr const char* what_to_do = "use an earlier copy of it, or begin anew without --resume";
constexpr const char* wrong_sum = "is corrupted: its checksum is wrong; ";
constexpr const char* wrong_contents = "is corrupted, or another program has written it: ";

[[noreturn]] void refuse_truncated(const fs::path& file, std::uint64_t size, const std::string& of = "") {
    refuse(file, fmt::format("is truncated: it has {} bytes{}; {}", size, of, what_to_do));
}

/// A file of `size` bytes that begins so is a whole checkpoint, in this format.
void check_head(const fs::path& file, std::span<const std::byte> head, std::uint64_t size) {
    if (head.empty()) refuse(file, std::string("is empty, and so no checkpoint; ") + what_to_do);
    const std::size_t known = std::min(head.size(), magic.size());
    if (!std::ranges::equal(head.first(known), std::as_bytes(std::span(magic)).first(known)))
        refuse(file, "is no checkpoint of Headrace");
    if (head.size() < first_size) refuse_truncated(file, head.size());
    if (const auto found = number_at<std::uint32_t>(head, format_at); found != format)
        refuse(file,
               fmt::format("is a checkpoint in format {}, and this version of Headrace reads format {}; "
                           "resume it with the version that has written it",
                           found, format));
    if (number_at<std::uint32_t>(head, order_at) != byte_order)
        refuse(file, "comes from a processor with another byte order; resume it there");
    const auto wanted = number_at<std::uint64_t>(head, size_at);
    if (size < wanted) refuse_truncated(file, size, fmt::format(" of {}", wanted));
    if (size > wanted || size < first_size + sizeof(std::uint64_t))
        refuse(file, std::string(wrong_sum) + what_to_do);
}

void make_room(const fs::path& file, Message& bytes, std::uint64_t size) {
    const auto number = [](int name) { return static_cast<std::uint64_t>(std::max(::sysconf(name), 1L)); };
    const std::uint64_t memory = number(_SC_PHYS_PAGES) * number(_SC_PAGESIZE);
    const auto fail = [&](const std::string& here) {
        throw Error{ErrorKind::out_of_memory,
                    fmt::format("{}: the checkpoint has {} bytes, and {}; resume it "
                                "where there is more memory",
                                file.string(), size, here)};
    };
    if (size > memory) fail(fmt::format("this host has {} bytes of memory", memory));
    try {
        bytes.resize(size);
    } catch (const std::bad_alloc&) {
        fail("this process gets no memory for them");
    }
}

/// The whole file; its head is checked before memory is taken for the rest.
Message content_of(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error))
        throw Error{ErrorKind::not_found, file.string() + ": there is no such checkpoint"};
    if (!fs::is_regular_file(file, error)) refuse(file, "is no file, and so no checkpoint");
    const auto fail = [&](int why) {
        throw Error{ErrorKind::io,
                    file.string() + ": cannot be read: " + std::generic_category().message(why)};
    };
    const Descriptor open(file, O_RDONLY);
    struct stat about {};
    if (!open.is_open() || ::fstat(open.number(), &about) != 0) fail(errno);
    const auto size = static_cast<std::uint64_t>(about.st_size);
    Message bytes(std::min<std::uint64_t>(size, first_size));
    std::size_t have = 0;
    if (const int failed = open.read(bytes, have); failed != 0) fail(failed);
    bytes.resize(have);
    check_head(file, bytes, size);
    make_room(file, bytes, size);
    if (const int failed = open.read(std::span(bytes).subspan(first_size), have); failed != 0) fail(failed);
    bytes.resize(first_size + have);
    if (bytes.size() < size) refuse_truncated(file, bytes.size()); // it has become shorter
    const std::size_t sum_at = size - sizeof(std::uint64_t);
    if (number_at<std::uint64_t>(bytes, sum_at) != checksum(std::span(bytes).first(sum_at)))
        refuse(file, std::string(wrong_sum) + what_to_do);
    return bytes;
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
    if (fs::is_symlink(target, ignored)) fail_to_write(file, ELOOP);
    if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored)) fail_to_write(file, EINVAL);
    Draft draft(target);
    int error = draft.error();
    if (error == 0) error = draft.write(before);
    if (error == 0) error = draft.write(snapshot.bytes);
    if (error == 0) error = draft.write(std::as_bytes(std::span(&sum, 1)));
    if (error == 0) error = draft.take_name();
    if (error != 0) fail_to_write(file, error);
}

Snapshot read_checkpoint(const fs::path& file, const Identity& identity) try {
    const Message bytes = content_of(file);
    const std::size_t end = bytes.size() - sizeof(std::uint64_t);
    Reader reader(std::span<const std::byte>(bytes).subspan(first_size, end - first_size));
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
    if (body.data() + body.size() != bytes.data() + end)
        refuse(file, fmt::format("{}it has more than a checkpoint; {}", wrong_contents, what_to_do));
    if (snapshot.done < identity.units.begin || snapshot.done > identity.units.end)
        refuse(file,
               fmt::format("{}it has units that the job does not have; {}", wrong_contents, what_to_do));
    return snapshot;
} catch (const Error& error) {
    if (error.kind() != ErrorKind::internal) throw; // internal: Reader has found less than it was to read
    refuse(file, fmt::format("{}its contents end too early; {}", wrong_contents, what_to_do));
}

} // namespace headrace::epochs

namespace headrace {

std::string fingerprint(std::span<const std::byte> bytes) {
    return fmt::format("{:016x}", epochs::checksum(bytes, bytes.size()));
}

} // namespace headrace
