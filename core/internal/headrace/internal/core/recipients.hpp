// internal/core/recipients.hpp - participants that are idle while a donor works, and the shares that they get
// of what the donor has left.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/core/work.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headrace {

/// Shares go by capability. The donor's own share is what is missing to 1.
///
/// Threads   one at a time
class HEADRACE_EXPORT Recipients {
public:
    struct One {
        std::size_t participant;
        double share;        ///< that it should have of what the donor has left
        std::uint64_t least; ///< seeds or units that pay
    };

    /// `all`: with capabilities for shares. `donor`: its capability.
    Recipients(std::vector<One> all, double donor);

    [[nodiscard]] bool are_none() const noexcept { return all_.empty(); }
    /// As many as share so many seeds or units that each share pays.
    [[nodiscard]] Recipients that_pay(std::uint64_t left) const;
    [[nodiscard]] double share() const; ///< of all together
    /// What the donor keeps of so many.
    [[nodiscard]] std::uint64_t kept(std::uint64_t left) const;
    [[nodiscard]] std::uint64_t least() const;

    /// The parts of `rest`, of a donor that had `left` seeds left: each by its share, the last one what
    /// remains. The division may make them fewer.
    [[nodiscard]] std::vector<std::pair<std::size_t, IndexRange>> cut(IndexRange rest, std::uint64_t left,
                                                                      const Division& division) const;
    /// So many units, dealt by shares; none with 0 units. Few units go to as many recipients.
    [[nodiscard]] std::vector<std::pair<std::size_t, std::uint64_t>> deal(std::uint64_t units) const;

private:
    std::vector<One> all_;
};

} // namespace headrace
