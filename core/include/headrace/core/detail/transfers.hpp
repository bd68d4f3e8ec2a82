// core/detail/transfers.hpp - which images of a datum are current, and what a request must move first: a
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

/// A set of images; of those that are current, one is Modified and several are Shared.
class ImageSet {
public:
    static constexpr Image capacity = 64;

    constexpr ImageSet() = default;
    constexpr ImageSet(std::initializer_list<Image> images) {
        for (const Image image : images) insert(image);
    }
    [[nodiscard]] constexpr bool has(Image image) const noexcept { return (bits_ >> image & 1U) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    /// Of a set that is not empty.
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

/// A copy of a datum from one of its images to another. Between two devices: a peer copy.
struct Move {
    Image from, to;
    friend constexpr bool operator==(Move, Move) = default;
};

/// What happens before a request, and which images are current once it has run.
struct TransferPlan {
    bool reads_nothing = false; ///< no image anywhere is current, and the request reads
    std::vector<Move> moves;    ///< in order
    ImageSet current;           ///< afterwards
};

/// The papers' `in`: the image is made current.
[[nodiscard]] HEADRACE_EXPORT TransferPlan plan_input(Image image, ImageSet current, ImageSet reachable);
/// The papers' `out`: the kernel may write only a part, so what is there is fetched; then this image alone is
/// current.
[[nodiscard]] HEADRACE_EXPORT TransferPlan plan_output(Image image, ImageSet current, ImageSet reachable);

/// What `access` to `image` takes: `read` is an input, `update` and `accumulate` an input and then an output,
/// `write` moves nothing. A kernel that works in place on host memory uses `host_image`.
///
/// `current`    images that are up to date now
/// `reachable`  images from which `image` can be copied without passing by the host
[[nodiscard]] HEADRACE_EXPORT TransferPlan plan_access(Image image, Access access, ImageSet current,
                                                       ImageSet reachable);

} // namespace headrace
