// internal/domains/checked_writes.hpp - the elements that the tasks of a job have written, in checked mode.
// Internal to domains/.
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

/// For one job.
///
/// Threads   one at a time
class CheckedWrites {
public:
    /// A task has written these elements of its part of a domain; the part now holds `contents`. Returns an
    /// error if two tasks scattered different bytes to one element, else nothing.
    [[nodiscard]] std::optional<Error> note(const Job::Use& use, IndexRange part,
                                            const std::vector<bool>& written,
                                            std::span<const std::byte> contents);
    /// Called when all tasks have ended. Returns an error for the first element that tasks should have
    /// written and none wrote, or nothing if there is none.
    [[nodiscard]] std::optional<Error> why_unwritten() const;

private:
    /// For a domain under writes().
    struct Parts {
        std::vector<bool> expected, written;
    };
    /// For a domain under scatters().
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
