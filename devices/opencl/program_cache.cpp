// devices/opencl/program_cache.cpp - see program_cache.hpp.
#include <headrace/core/cache_folder.hpp>
#include <headrace/internal/devices/opencl/program_cache.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>

namespace headrace::opencl {
namespace {

constexpr std::chrono::seconds longest_build{300}; // PoCL on a busy machine; a process that ends unlocks

// A file consists of this header, the key and the value.
struct Header {
    std::array<char, 8> magic{'h', 'r', 'p', 'r', 'o', 'g', '0', '1'};
    std::uint64_t key_bytes = 0;
    std::uint64_t value_bytes = 0;
    std::uint64_t value_hash = 0;
};

std::uint64_t fnv1a(const void* data, std::size_t bytes, std::uint64_t hash = 0xcbf29ce484222325u) {
    for (const auto* byte = static_cast<const unsigned char*>(data); bytes-- > 0; ++byte)
        hash = (hash ^ *byte) * 0x100000001b3u;
    return hash;
}

} // namespace

ProgramCache ProgramCache::of_user() {
    const std::filesystem::path folder = cache_folder();
    return ProgramCache{folder.empty() ? "/nonexistent" : folder};
}

std::filesystem::path ProgramCache::file(std::string_view key) const {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "%016llx.clbin",
                  static_cast<unsigned long long>(fnv1a(key.data(), key.size())));
    return folder_ / name.data();
}

std::optional<std::vector<unsigned char>> ProgramCache::load(std::string_view key) const {
    // The size of the open file: another file may get its name at any time.
    std::ifstream stream(file(key), std::ios::binary | std::ios::ate);
    const auto end = static_cast<std::streamoff>(stream.tellg());
    const auto size = static_cast<std::uint64_t>(end < 0 ? 0 : end);
    stream.seekg(0);
    Header header;
    const Header expected;
    if (!stream.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
    if (header.magic != expected.magic || header.key_bytes != key.size() ||
        size - sizeof header < header.key_bytes || // cannot wrap: the header was read
        size - sizeof header - header.key_bytes != header.value_bytes)
        return std::nullopt;
    std::string stored_key(key.size(), '\0');
    std::vector<unsigned char> value(header.value_bytes);
    if (!stream.read(stored_key.data(), static_cast<std::streamsize>(stored_key.size())) ||
        !stream.read(reinterpret_cast<char*>(value.data()), static_cast<std::streamsize>(value.size())) ||
        stored_key != key || fnv1a(value.data(), value.size()) != header.value_hash)
        return std::nullopt;
    return value;
}

FileLock ProgramCache::turn(std::string_view key) const {
    make_private_folder(folder_);
    const auto number = static_cast<std::uint32_t>(fnv1a(key.data(), key.size()));
    return FileLock(folder_ / "programs.lock", number, longest_build);
}

void ProgramCache::store(std::string_view key, const std::vector<unsigned char>& value) const {
    std::error_code ignored;
    make_private_folder(folder_);
    const auto target = file(key), partial = new_file_beside(target);
    if (partial.empty()) return;
    Header header;
    header.key_bytes = key.size();
    header.value_bytes = value.size();
    header.value_hash = fnv1a(value.data(), value.size());
    std::ofstream stream(partial, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(&header), sizeof header);
    stream.write(key.data(), static_cast<std::streamsize>(key.size()));
    stream.write(reinterpret_cast<const char*>(value.data()), static_cast<std::streamsize>(value.size()));
    stream.close();
    if (stream) std::filesystem::rename(partial, target, ignored); // atomic: readers see the old or the new
    if (!stream || ignored) std::filesystem::remove(partial, ignored);
}

void ProgramCache::forget(std::string_view key) const {
    std::error_code ignored;
    std::filesystem::remove(file(key), ignored);
}

} // namespace headrace::opencl
