// domains/grids/detail/binding.hpp - converts arrays to the roles of kernels and host tasks, and to the uses
// that controllers need. The type of a role gives the access.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/domains/grids/array.hpp>
#include <headrace/domains/grids/texture.hpp>

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::detail {

/// An array at the place where a kernel or a host task finds it. Converts to any role.
template <class T>
struct Bound {
    T* data; ///< T is const if the array was
    Shape shape;

    operator In<std::remove_const_t<T>>() const { return {data, shape}; }
    operator Write<T>() const requires(!std::is_const_v<T>) { return {data, shape}; }
    operator Out<T>() const requires(!std::is_const_v<T>) { return {data, shape}; }
    operator Io<T>() const requires(!std::is_const_v<T>) { return {data, shape}; }
};

/// What an argument (or a reference to one) is: an array, a part of an array, or something else.
template <class Argument>
struct ArrayTraits {
    static constexpr bool is_array = false;
};
template <class T>
struct ArrayTraits<Array<T>> {
    static constexpr bool is_array = true;
    using Element = T;
    static const Array<T>& whole(const Array<T>& array) { return array; }
    static Tile tile(const Array<T>& array) { return array.tile(); }
};
template <class T>
struct ArrayTraits<const Array<T>> : ArrayTraits<Array<T>> {
    using Element = const T;
};
template <class T>
struct ArrayTraits<Part<T>> {
    static constexpr bool is_array = true;
    using Element = T;
    static const Array<std::remove_const_t<T>>& whole(const Part<T>& part) { return part.whole(); }
    static Tile tile(const Part<T>& part) { return part.tile(); }
};
template <class T>
struct ArrayTraits<const Part<T>> : ArrayTraits<Part<T>> {};
template <class Argument>
struct ArrayTraits<Argument&> : ArrayTraits<Argument> {};
template <class Argument>
struct ArrayTraits<Argument&&> : ArrayTraits<Argument> {};

/// The result type of `bind_on` for an argument.
template <class Argument>
struct Binding {
    using type = Argument;
};
template <class Argument>
requires(ArrayTraits<Argument>::is_array) struct Binding<Argument> {
    using type = Bound<typename ArrayTraits<Argument>::Element>;
};

/// Textures are read. They convert to their only view.
template <>
struct ArrayTraits<Texture> {
    static constexpr bool is_array = false;
    static Tile tile(const Texture& texture) { return texture.pixels().tile(); }
};
template <>
struct ArrayTraits<const Texture> : ArrayTraits<Texture> {};
template <class Argument>
requires(std::is_same_v<std::remove_cvref_t<Argument>, Texture>) struct Binding<Argument> {
    using type = TextureView;
};

/// Arrays as the kernels of `controller` find them; other arguments unchanged. On OpenCL, where memory has no
/// address, `data` is the cl_mem.
template <class Argument>
decltype(auto) bind_on(Controller& controller, Argument& argument) {
    using Traits = ArrayTraits<Argument>;
    if constexpr (Traits::is_array) {
        const auto& whole = Traits::whole(argument);
        const Memory& memory = controller.memory(whole.storage());
        void* const data = memory.address() != nullptr ? memory.address() : memory.handle();
        return Bound<typename Traits::Element>{static_cast<typename Traits::Element*>(data), whole.shape()};
    } else if constexpr (std::is_same_v<std::remove_cv_t<Argument>, Texture>) {
        return argument.view_on(controller);
    } else {
        return (argument);
    }
}

/// Arrays as host tasks find them.
template <class Argument>
auto bind_on_host(Argument& argument) {
    using Traits = ArrayTraits<Argument>;
    const auto& whole = Traits::whole(argument);
    return Bound<typename Traits::Element>{static_cast<typename Traits::Element*>(whole.storage().host()),
                                           whole.shape()};
}

/// The uses of one request.
using Uses = std::vector<TileUse>;

/// The members of a kernel, or the parameters of a host task. Some may not be roles.
template <class... Roles>
struct RoleList {
    /// For arguments in the same order.
    template <class... Arguments>
    static Uses uses(const Arguments&... arguments) {
        Uses uses;
        (add<Roles>(uses, arguments), ...);
        return uses;
    }
    /// True if arrays of these types can be these roles.
    template <class... Arrays>
    static constexpr bool takes() {
        if constexpr (sizeof...(Roles) == sizeof...(Arrays))
            return ((is_role<Roles> && ArrayTraits<Arrays>::is_array &&
                     std::is_convertible_v<typename Binding<Arrays>::type, Roles>)&&...);
        else
            return false;
    }

private:
    template <class Role, class Argument>
    static void add([[maybe_unused]] Uses& uses, [[maybe_unused]] const Argument& argument) {
        if constexpr (is_role<Role>) uses.push_back({ArrayTraits<Argument>::tile(argument), Role::access});
    }
};

} // namespace headrace::detail
