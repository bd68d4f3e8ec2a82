// domains/data/checked_writes.cpp - see checked_writes.hpp.
#include <headrace/internal/domains/checked_writes.hpp>

#include <fmt/format.h>

#include <cstring>

namespace headrace {

std::optional<Error> CheckedWrites::note(const Job::Use& use, IndexRange part,
                                         const std::vector<bool>& written,
                                         std::span<const std::byte> contents) {
    const DomainData& data = *use.slice.data;
    if (use.joining) return note_scattered(data, written, contents);
    note_part(data, part, written);
    return std::nullopt;
}

void CheckedWrites::note_part(const DomainData& data, IndexRange part, const std::vector<bool>& written) {
    Parts& parts = parts_[&data];
    parts.expected.resize(data.extent().size());
    parts.written.resize(parts.expected.size());
    for (std::uint64_t i = part.begin; i < part.end; ++i) {
        parts.expected[i] = true;
        if (written[i - part.begin]) parts.written[i] = true;
    }
}

std::optional<Error> CheckedWrites::note_scattered(const DomainData& data, const std::vector<bool>& written,
                                                   std::span<const std::byte> contents) {
    const Bytes size = data.element_size();
    Scattered& scattered = scattered_[&data];
    scattered.written.resize(written.size());
    scattered.contents.resize(contents.size());
    for (std::uint64_t i = 0; i < written.size(); ++i) {
        if (!written[i]) continue;
        std::byte* const known = scattered.contents.data() + i * size;
        const std::byte* const now = contents.data() + i * size;
        if (scattered.written[i] && std::memcmp(known, now, size) != 0)
            return Error(
                ErrorKind::invalid_argument,
                fmt::format("checked mode: two tasks wrote element {} of domain '{}' differently: of "
                            "a domain under scatters(), each element is for one unit to write",
                            i, data.name()));
        scattered.written[i] = true;
        std::memcpy(known, now, size);
    }
    return std::nullopt;
}

std::optional<Error> CheckedWrites::why_unwritten() const {
    for (const auto& [data, parts] : parts_)
        for (std::uint64_t i = 0; i < parts.expected.size(); ++i)
            if (parts.expected[i] && !parts.written[i])
                return Error(
                    ErrorKind::invalid_argument,
                    fmt::format("checked mode: no unit wrote element {} of domain '{}', of which the job "
                                "declares writes(): all of it is for units to write",
                                i, data->name()));
    return std::nullopt;
}

} // namespace headrace
