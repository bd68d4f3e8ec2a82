// apps/barnes_hut/gadget_absent.cpp - gadget.hpp where there is no HDF5.
#include "gadget.hpp"
#include <headrace/core/error.hpp>

namespace barnes_hut {

void expect_hdf5(const std::string& what) {
    throw headrace::Error{
        headrace::ErrorKind::invalid_argument,
        what + ": this program was built without HDF5; install libhdf5-dev and build it again"};
}

Bodies read_gadget(const std::filesystem::path& file) {
    expect_hdf5(file.string());
    return {};
}

std::string gadget_bytes(const Bodies&, double) {
    expect_hdf5("a GADGET snapshot");
    return {};
}

} // namespace barnes_hut
