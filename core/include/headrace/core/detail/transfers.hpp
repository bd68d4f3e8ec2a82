// core/detail/transfers.hpp - which replicas of a datum are current, and what a request must move first: a
// table, no state.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/detail/dependencies.hpp>
#include <headrace/core/export.hpp>

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace headrace {

/// A set of replicas. In a set of current replicas, a single one is Modified, and several are Shared.
class ImageSet {
public:
    static constexpr Image capacity = 64;

    constexpr ImageSet() = default;
    constexpr ImageSet(std::initializer_list<Image> images) {
        for (const Image image : images) insert(image);
    }
    [[nodiscard]] constexpr bool has(Image image) const noexcept { return (bits_ >> image & 1U) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    /// The set must not be empty.
    [[nodiscard]] constexpr Image first() const noexcept {
        return static_cast<Image>(std::countr_zero(bits_));
    }
    constexpr void insert(Image image) noexcept { bits_ |= std::uint64_t{1} << image; }
    constexpr void erase(Image image) noexcept { bits_ &= ~(std::uint64_t{1} << image); }

    friend constexpr ImageSet operator&(ImageSet a, ImageSet b) noexcept {
        return ImageSet(a.bits_ & b.bits_);
    }
    friend constexpr bool operator==(ImageSet, ImageSet) = default;

private:
    explicit constexpr ImageSet(std::uint64_t bits) : bits_(bits) {}
    std::uint64_t bits_ = 0;
};

/// A copy of a datum from one of its replicas to another. Between two devices: a peer copy.
struct Move {
    Image from, to;
    friend constexpr bool operator==(Move, Move) = default;
};

/// The transfers before a request, and the replicas that are current after the request has run.
struct TransferPlan {
    bool reads_nothing = false; ///< the request reads, but no replica is current
    std::vector<Move> moves;    ///< in order
    ImageSet current;           ///< after the request
};

/// The `in` of the papers: makes the replica current.
[[nodiscard]] HEADRACE_EXPORT TransferPlan plan_input(Image image, ImageSet current, ImageSet reachable);
/// The `out` of the papers: a kernel may write only a part, so the contents are fetched first. Afterwards
/// only this replica is current.
[[nodiscard]] HEADRACE_EXPORT TransferPlan plan_output(Image image, ImageSet current, ImageSet reachable);

/// The plan for `access` to `image`: `read` is an input; `update` and `accumulate` are an input and then an
/// output; `write` moves nothing. A kernel that works in place on host memory uses `host_image`.
///
/// `current`    replicas that are up to date now
/// `reachable`  replicas from which `image` can be copied without the host
[[nodiscard]] HEADRACE_EXPORT TransferPlan plan_access(Image image, Access access, ImageSet current,
                                                       ImageSet reachable);

} // namespace headrace
