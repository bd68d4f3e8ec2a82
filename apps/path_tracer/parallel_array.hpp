// apps/path_tracer/parallel_array.hpp - an array that all cores fill: one would spend most of its time on the
// first touch of new memory.
#pragma once
#include <tbb/parallel_for.h>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace path_tracer {

/// Elements are what `make` returns for their index.
template <class T>
class ParallelArray {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignof(std::max_align_t));

public:
    template <class Make>
    ParallelArray(std::size_t count, const Make& make)
        : memory_(std::make_unique_for_overwrite<std::byte[]>(count * sizeof(T))),
          elements_(reinterpret_cast<T*>(memory_.get()), count) {
        tbb::parallel_for(std::size_t{0}, count,
                          [&](std::size_t i) { std::construct_at(elements_.data() + i, make(i)); });
    }

    /// Elements say nothing until they are set.
    explicit ParallelArray(std::size_t count) requires std::is_trivially_default_constructible_v<T>
        : memory_(std::make_unique_for_overwrite<std::byte[]>(count * sizeof(T))),
          elements_(reinterpret_cast<T*>(memory_.get()), count) {}

    /// Leaves out all from this one on.
    void end_at(std::size_t count) { elements_ = elements_.first(count); }
    [[nodiscard]] std::span<T> elements() const { return elements_; }
    [[nodiscard]] std::size_t size() const { return elements_.size(); }
    [[nodiscard]] T& operator[](std::size_t i) const { return elements_[i]; }

private:
    std::unique_ptr<std::byte[]> memory_;
    std::span<T> elements_;
};

} // namespace path_tracer
