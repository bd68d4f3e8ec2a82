// apps/barnes_hut/hdf5_handle.hpp - what HDF5 has open, closed at the end; and silence from the library.
#pragma once
#include <headrace/core/error.hpp>

#include <hdf5.h>

#include <string>
#include <utility>

namespace barnes_hut {

/// A file, group, dataset, type, space or list of properties.
class Hdf5Handle {
public:
    using Close = herr_t (*)(hid_t);
    /// Errors  invalid_argument, `what`, if the library gave none
    Hdf5Handle(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
        if (id < 0) throw headrace::Error{headrace::ErrorKind::invalid_argument, what};
    }
    ~Hdf5Handle() {
        if (id_ >= 0) close_(id_); // of what is read, or in memory: nothing can be lost
    }
    Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Hdf5Handle(const Hdf5Handle&) = delete; // closes it once
    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }

    operator hid_t() const { return id_; } // NOLINT(google-explicit-constructor): for the library's calls

private:
    hid_t id_;
    Close close_;
};

/// The library prints no stacks of errors, and loads no code that a file names.
inline void quiet_hdf5() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);
}

} // namespace barnes_hut
