// tests/domains/fragile.kernels.hpp - a kernel whose device is lost, on the CPU alone: others cannot throw.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/domains/view.hpp>

#include <atomic>

namespace headrace::test {

/// Counts indices by their remainder. The first time that it comes to one of them, its device is gone.
struct Fragile {
    Sum<std::uint64_t> bins;
    std::uint64_t at;
    std::atomic<bool>* lost;
    const char* device;

    void operator()(auto&, std::uint64_t i) const {
        if (i == at && !lost->exchange(true))
            throw Error{ErrorKind::device, "gone in mid-job"}.on_device(device);
        bins.add(i % bins.size(), 1);
    }
};

} // namespace headrace::test
