// persistent/detail/batch_calls.hpp - calls of a kernel's batch form: several units in the lanes of vector
// registers, one vector after the other.
#pragma once
#include <headrace/persistent/kernel.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace headrace {

/// True if the lanes of a group can be those of vector registers. Such Lanes have
///     static std::uint32_t vector_lanes();    // of the vectors in use; 0: none
///     static bool run_with_vectors(auto&& f); // calls f(width); false, without a call, if there are none
template <class Lanes>
concept HasVectors = Lanes::has_vectors;

template <class Kernel, class Handle, class Unit>
concept HasBatchForm = requires(Kernel& kernel, Handle* lanes, const Unit* units, std::uint32_t count) {
    kernel.batch(Constant<8>{}, lanes, units, count);
    kernel.batch(Constant<16>{}, lanes, units, count);
};

/// True if the lanes can be those of vectors, and the kernel has a batch form for units of this type.
template <class Lanes, class Kernel, class Handle, class Unit>
consteval bool takes_batches() {
    if constexpr (HasVectors<Lanes>) {
        constexpr bool has_form = HasBatchForm<const Kernel, Handle, Unit>;
        static_assert(has_form || !HasBatchForm<Kernel, Handle, Unit>,
                      "headrace: the kernel's batch form must be const: all lanes of a device share one "
                      "kernel object");
        return has_form;
    } else {
        return false;
    }
}

/// Units on end, each with its lane's handle; at most as many as a group has lanes.
template <class Lanes, class Handle, class Unit>
class BatchCall {
    static_assert(std::is_trivially_destructible_v<Handle>);

public:
    /// `arguments`: of the handle's constructor.
    void add(const Unit& unit, auto&... arguments) {
        std::construct_at(handles() + count_, arguments...);
        std::construct_at(units() + count_, unit);
        ++count_;
    }

    /// False, without a call of the kernel, if there are no vectors.
    bool call(const auto& kernel) {
        return Lanes::run_with_vectors([&](auto width) {
            constexpr std::uint32_t lanes = decltype(width)::value;
            for (std::uint32_t first = 0; first < count_; first += lanes) {
                const std::uint32_t rest = count_ - first;
                kernel.batch(Constant<lanes>{}, handles() + first, units() + first,
                             rest < lanes ? rest : lanes);
            }
        });
    }

private:
    Handle* handles() { return reinterpret_cast<Handle*>(handle_bytes_); }
    Unit* units() { return reinterpret_cast<Unit*>(unit_bytes_); }

    alignas(Handle) unsigned char handle_bytes_[Lanes::size * sizeof(Handle)];
    alignas(Unit) unsigned char unit_bytes_[Lanes::size * sizeof(Unit)];
    std::uint32_t count_ = 0;
};

} // namespace headrace
