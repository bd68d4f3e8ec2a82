// What a build without HDF5 says of GADGET's snapshots.
#include "gadget.hpp"
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace barnes_hut::test {
namespace {

TEST(WithoutHdf5, SnapshotsAreRefusedInOneSentence) {
    for (const std::function<void()>& use :
         {std::function<void()>([] { expect_hdf5("--output a.hdf5"); }),
          std::function<void()>([] { static_cast<void>(read_gadget("a.hdf5")); }),
          std::function<void()>([] { static_cast<void>(gadget_bytes({}, 0)); })}) {
        try {
            use();
            ADD_FAILURE() << "was done";
        } catch (const headrace::Error& error) {
            EXPECT_EQ(error.kind(), headrace::ErrorKind::invalid_argument);
            EXPECT_NE(std::string(error.message()).find("built without HDF5; install libhdf5-dev"),
                      std::string::npos);
        }
    }
}

} // namespace
} // namespace barnes_hut::test
