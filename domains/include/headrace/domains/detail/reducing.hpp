// domains/detail/reducing.hpp - joins the reductions of several devices: Job::reduces. Internal to domains/;
// only templates in public headers use it.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/pattern.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/grids/detail/type_name.hpp>
#include <headrace/domains/reduction.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// Common part of the ways to join reductions: the names by which jobs and tasks use the operation.
class HEADRACE_EXPORT OperationJoining : public Joining {
public:
    [[nodiscard]] std::string_view declaration() const noexcept final { return declaration_; }
    [[nodiscard]] std::string_view view() const noexcept final { return view_; }

protected:
    /// `operation`: name of the operation.
    explicit OperationJoining(std::string_view operation);

private:
    std::string declaration_, view_;
};

/// Private replicas begin as identities. A join combines them, and earlier contents, by the operation.
class HEADRACE_EXPORT ReductionJoining final : public OperationJoining {
public:
    /// Combines each of the `values`, of `size` bytes together, with the value at its index in `others`.
    using Combine = void (*)(void* values, const void* others, Bytes size);

    /// `has_slots`: lanes have slots of their own (lane_slots.hpp) where the domain is small.
    ReductionJoining(Combine combine, Pattern identity, bool has_slots, std::string_view operation);

    [[nodiscard]] Bytes replica_bytes(const DomainData& data, const DeviceInfo& device) const override;
    [[nodiscard]] Event begin(DomainData& data, Memory& replica, Stream& stream) const override;
    void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const override;
    void write_unwritten(const DomainData& data, std::byte* on_host, Bytes begin, Bytes end) const override;

private:
    const Combine combine_;
    const Pattern identity_;
    const bool has_slots_;
};

/// Number and size of slots in a private replica, for values that no atomic operation replaces.
struct SlotLayout {
    std::uint64_t slots;
    Bytes slot_bytes;

    [[nodiscard]] constexpr Bytes bytes() const noexcept { return slots * slot_bytes; }
};
/// `place_bytes`: size of a detail::SlotPlace.
[[nodiscard]] HEADRACE_EXPORT SlotLayout slot_layout(const DeviceInfo& device, std::uint64_t elements,
                                                     Bytes place_bytes);
/// Throws invalid_argument if a domain is too large to be reduced in slots.
HEADRACE_EXPORT void expect_fit_for_slots(const DomainData& data);

/// Private replicas are slots. A join combines all entries that hold a value, and earlier contents.
class HEADRACE_EXPORT SlotJoining final : public OperationJoining {
public:
    /// Combines each of `count` values with the entry of its element in a slot, if that is full.
    using Combine = void (*)(void* values, const std::byte* slot, std::uint64_t count);

    SlotJoining(Combine combine, std::vector<std::byte> identity, Bytes place_bytes,
                std::string_view operation);

    [[nodiscard]] Bytes replica_bytes(const DomainData& data, const DeviceInfo& device) const override;
    [[nodiscard]] Event begin(DomainData& data, Memory& replica, Stream& stream) const override;
    void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const override;
    void write_unwritten(const DomainData& data, std::byte* on_host, Bytes begin, Bytes end) const override;

private:
    Combine combine_;
    std::vector<std::byte> identity_;
    Bytes place_bytes_;
};

namespace detail {

template <class T, class Op>
void combine_slot(void* values, const std::byte* slot, std::uint64_t count) {
    auto* const into = static_cast<T*>(values);
    const auto* const places = reinterpret_cast<const SlotPlace<T>*>(slot);
    for (std::uint64_t i = 0; i < count; ++i)
        if (places[i].state == place_is_full) into[i] = Op{}(into[i], places[i].value);
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    return {bytes, bytes + sizeof value};
}

template <class T, class Op>
void combine_values(void* values, const void* others, Bytes size) {
    auto* const into = static_cast<T*>(values);
    const auto* const from = static_cast<const T*>(others);
    for (Bytes i = 0; i < size / sizeof(T); ++i) into[i] = Op{}(into[i], from[i]);
}

} // namespace detail

#define HEADRACE_NOT_REDUCIBLE                                                                               \
    "the operation of a reduction must be an empty struct that combines two elements of the domain and has " \
    "an identity for them (domains/reduction.hpp)"

/// True if a domain of T can be reduced by Op.
template <class T, class Op>
concept Reducible = ReductionOperation<Op, T>;

/// The single object for this operation on this type.
template <class T, class Op>
requires Reducible<T, Op>
[[nodiscard]] const Joining& joins_reductions() {
    if constexpr (AtomicValue<T>) {
        static const ReductionJoining joining(&detail::combine_values<T, Op>, Pattern(identity_of<T, Op>()),
                                              changes_often<Op>, type_name<Op>());
        return joining;
    } else {
        static const SlotJoining joining(&detail::combine_slot<T, Op>, detail::bytes_of(identity_of<T, Op>()),
                                         sizeof(detail::SlotPlace<T>), type_name<Op>());
        return joining;
    }
}

} // namespace headrace
