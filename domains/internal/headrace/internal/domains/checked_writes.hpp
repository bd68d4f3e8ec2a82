// internal/domains/checked_writes.hpp - which elements the tasks of a job have written, in checked mode.
// Private to domains/.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/domains/job.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace headrace {

/// Of one job.
///
/// Threads   one at a time
class CheckedWrites {
public:
    /// A task has written these elements of its part of a domain, which holds `contents` now. Nothing, or
    /// what is wrong: two tasks scattered different bytes to one element.
    [[nodiscard]] std::optional<Error> note(const Job::Use& use, IndexRange part,
                                            const std::vector<bool>& written,
                                            std::span<const std::byte> contents);
    /// All tasks have ended. The first element that was for tasks to write and that none wrote; nothing if
    /// none is known of.
    [[nodiscard]] std::optional<Error> why_unwritten() const;

private:
    /// Of a domain under writes().
    struct Parts {
        std::vector<bool> expected, written;
    };
    /// Of a domain under scatters().
    struct Scattered {
        std::vector<bool> written;
        std::vector<std::byte> contents; ///< where written
    };

    void note_part(const DomainData& data, IndexRange part, const std::vector<bool>& written);
    [[nodiscard]] std::optional<Error> note_scattered(const DomainData& data,
                                                      const std::vector<bool>& written,
                                                      std::span<const std::byte> contents);

    std::map<const DomainData*, Parts> parts_;
    std::map<const DomainData*, Scattered> scattered_;
};

} // namespace headrace
