// The same on plain threads, where ThreadSanitizer sees all.
#include "soak.hpp"
#include "thread_kernels.hpp"

namespace headrace::test {
namespace {

template <class Config>
class SoakOnThreads : public ::testing::Test {};
using Configs = ::testing::Types<Config<16, ThreadRunner<6>>, Config<widest, SerialRunner<3>>,
                                 Config<16, ThreadRunner<16>>, // this has several rings
                                 Config<16, LateRunner<6>>, Config<16, SerialRunner<4, true>>>;
TYPED_TEST_SUITE(SoakOnThreads, Configs);

TYPED_TEST(SoakOnThreads, NothingIsLostOrDoubledWhateverHappensWhen) {
    ThreadDevice device;
    const auto bind = [](const auto& kernel, const auto& seeds, const Memory& arrivals) {
        return bind_on_threads<TypeParam>(kernel, seeds,
                                          Arrivals{static_cast<std::uint64_t*>(arrivals.address())});
    };
    soak(device, bind, 4000 / slower);
}

} // namespace
} // namespace headrace::test
