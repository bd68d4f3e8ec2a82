// domains/reducing.hpp - replicas that devices reduced into become one image: Job::reduces. Private to
// domains/, but for its place in templates.
#pragma once
#include <headrace/core/pattern.hpp>
#include <headrace/domains/joining.hpp>
#include <headrace/domains/reduction.hpp>

#include <string>
#include <string_view>
#include <typeinfo>

namespace headrace {

/// Replicas begin as identities, and are combined by the operation, as what was there is.
class ReductionJoining final : public Joining {
public:
    /// Values in `size` bytes become the operation's results of themselves and others.
    using Combine = void (*)(void* values, const void* others, Bytes size);

    ReductionJoining(Combine combine, Pattern identity, const std::type_info& operation);

    [[nodiscard]] std::string_view declaration() const noexcept override { return declaration_; }
    [[nodiscard]] std::string_view view() const noexcept override { return "reduce"; }
    [[nodiscard]] Event begin(DomainData& data, Memory& replica, Stream& stream) const override;
    void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const override;
    void write_unwritten(const DomainData& data, std::byte* image, Bytes begin, Bytes end) const override;

private:
    Combine combine_;
    Pattern identity_;
    std::string declaration_;
};

namespace detail {

template <class T, class Op>
void combine_values(void* values, const void* others, Bytes size) {
    auto* const into = static_cast<T*>(values);
    const auto* const from = static_cast<const T*>(others);
    for (Bytes i = 0; i < size / sizeof(T); ++i) into[i] = Op{}(into[i], from[i]);
}

} // namespace detail

#define HEADRACE_NOT_REDUCIBLE                                                                               \
    "the operation of a reduction must be an empty struct that combines two elements of the domain and has " \
    "an identity for them (domains/reduction.hpp), and elements must have 1, 2, 4 or 8 bytes"

/// True if a domain of T can be reduced by Op.
template <class T, class Op>
concept Reducible = AtomicValue<T> && ReductionOperation<Op, T>;

/// The one object for this operation on this type.
template <class T, class Op>
requires Reducible<T, Op>
[[nodiscard]] const Joining& joins_reductions() {
    static const ReductionJoining joining(&detail::combine_values<T, Op>, Pattern(identity_of<T, Op>()),
                                          typeid(Op));
    return joining;
}

} // namespace headrace
