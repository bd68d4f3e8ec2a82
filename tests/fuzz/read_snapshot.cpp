// tests/fuzz/read_snapshot.cpp - any bytes as a snapshot, and the same with the checksum that they ought to
// have: read, or refused with an Error. What is read is written and read again to the bit.
#include "checksum.hpp"
#include "snapshot.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace {

std::optional<barnes_hut::Snapshot> read(const std::string& bytes) {
    try {
        std::istringstream stream(bytes);
        return barnes_hut::parse_snapshot(stream, "fuzz.snapshot");
    } catch (const headrace::Error&) { // as it should; all else is a crash
        return std::nullopt;
    }
}

/// The last eight bytes become the checksum of two lines of text and of words.
void set_checksum(std::string& bytes) {
    std::uint64_t word = 0;
    if (bytes.size() < sizeof word) return;
    const std::size_t end = bytes.size() - sizeof word;
    std::size_t at = std::min(bytes.find('\n'), end);
    at = std::min(bytes.find('\n', at + 1), end);
    at = std::min(at + 1, end);
    barnes_hut::Checksum checksum;
    checksum.add(std::string_view(bytes).substr(0, at));
    for (; at + sizeof word <= end; at += sizeof word) {
        std::memcpy(&word, bytes.data() + at, sizeof word);
        checksum.add(word);
    }
    word = checksum.value();
    std::memcpy(bytes.data() + end, &word, sizeof word);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    static_cast<void>(read(bytes));
    set_checksum(bytes);
    if (const auto snapshot = read(bytes)) {
        const std::string written = barnes_hut::bytes_of(*snapshot);
        const auto again = read(written);
        if (!again || barnes_hut::bytes_of(*again) != written) std::abort();
    }
    return 0;
}
