// devices/kernels/registry.hpp - how a kernel that is written once reaches every technology.
//
// A *form* of a kernel is a type that says how the kernel runs: by the engine (EngineKernel in
// persistent/launcher.hpp), or over a grid (GridKernel in domains/grids/implementations.hpp). Form::Compiled
// is what the host needs to launch it, with the kernel's type erased. A default-constructed one is empty:
// this build lacks the technology.
//
// Plain C++ declares `compiled_for`. Only the units that headrace_add_kernels() and
// headrace_add_grid_kernels() generate define it, one unit for each technology. So a kernel that is not
// registered is a link error that names the kernel, and not a null at run time.
#pragma once
#include <headrace/devices/kernels/technology.hpp>

#include <string_view>

namespace headrace {

/// In a namespace with a name that the linker shows if a kernel is not registered.
inline namespace kernel_is_not_compiled_see_headrace_add_kernels_or_headrace_add_grid_kernels {
template <class Technology, class Form>
typename Form::Compiled compiled_for();
} // namespace kernel_is_not_compiled_see_headrace_add_kernels_or_headrace_add_grid_kernels

/// The same by a technology's name. Empty for a name that is not in technology::of_cpp.
template <class Form>
[[nodiscard]] typename Form::Compiled compiled_for(std::string_view name) {
    if (name == technology::Cpu::name) return compiled_for<technology::Cpu, Form>();
    if (name == technology::Cuda::name) return compiled_for<technology::Cuda, Form>();
    if (name == technology::Hip::name) return compiled_for<technology::Hip, Form>();
    return {};
}

} // namespace headrace
