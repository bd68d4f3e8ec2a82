// domains/detail/exact_summation.hpp - joins exact sums of several devices; selects the way of joining and
// the view for the sums of a type. Internal to domains/; only templates in public headers use it.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/domain.hpp>
#include <headrace/domains/exact_sum.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace {

/// A private replica holds zeroed planes of words. The host replica holds normalised elements.
class HEADRACE_EXPORT ExactSumJoining final : public Joining {
public:
    /// Adds the sums in planes to `count` elements.
    using AddPlanes = void (*)(void* elements, std::size_t count, const std::uint64_t* planes,
                               std::uint64_t stride);

    ExactSumJoining(unsigned words, AddPlanes add_planes) : words_(words), add_planes_(add_planes) {}

    /// Number of words from one plane to the next: whole cache lines.
    [[nodiscard]] static constexpr std::uint64_t stride_of(std::uint64_t elements) {
        return (elements + 7) / 8 * 8;
    }

    [[nodiscard]] std::string_view declaration() const noexcept override { return "accumulates"; }
    [[nodiscard]] std::string_view view() const noexcept override { return "sum"; }
    [[nodiscard]] Bytes replica_bytes(const DomainData& data, const DeviceInfo& device) const override;
    [[nodiscard]] Event begin(DomainData& data, Memory& replica, Stream& stream) const override;
    void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const override;

private:
    unsigned words_; ///< of an element
    AddPlanes add_planes_;
};

/// The way to join sums of T, and the view of their private replica.
template <class T>
struct SumsOf {
    /// Always true. If T cannot be summed up, the call does not compile.
    static consteval bool check() { return check_summable<T>(); }
    [[nodiscard]] static const Joining& joining() { return joins_sums(); }
    [[nodiscard]] static Sum<T> view(void* replica, const Extent& extent, const DeviceInfo& device) {
        return {static_cast<T*>(replica), extent, lane_slots(device, extent.size() * sizeof(T))};
    }
};
template <class T, class Range>
struct SumsOf<ExactSum<T, Range>> {
    static consteval bool check() { return true; }
    [[nodiscard]] static const Joining& joining() {
        static const ExactSumJoining joining(
            ExactWords<T, Range>::words,
            [](void* elements, std::size_t count, const std::uint64_t* planes, std::uint64_t stride) {
                add_planes(std::span(static_cast<ExactSum<T, Range>*>(elements), count), planes, stride);
            });
        return joining;
    }
    [[nodiscard]] static Sum<ExactSum<T, Range>> view(void* replica, const Extent& extent,
                                                      const DeviceInfo&) {
        return {static_cast<std::uint64_t*>(replica), extent, ExactSumJoining::stride_of(extent.size())};
    }
};

} // namespace headrace
