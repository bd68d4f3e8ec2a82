// domains/grids/implementations.cpp - see implementations.hpp.
#include <headrace/domains/grids/implementations.hpp>

namespace headrace::detail {

void throw_no_implementation(std::string_view kernel, const DeviceInfo& device,
                             std::span<const Fit> there_are) {
    std::string message =
        "the kernel " + std::string(kernel) + " has no implementation for " + device.id + " (" + device.name;
    if (!device.architecture.empty()) message += ", " + device.architecture;
    message += "); there are: ";
    for (std::size_t i = 0; i < there_are.size(); ++i) {
        if (i > 0) message += ", ";
        message += there_are[i].technology;
        if (!there_are[i].architecture.empty()) message += " " + there_are[i].architecture;
    }
    if (there_are.empty()) message += "none";
    throw Error{ErrorKind::unsupported, message}.on_device(device.id);
}

} // namespace headrace::detail
