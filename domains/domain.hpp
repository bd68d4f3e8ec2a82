// domains/domain.hpp - user data that the runtime may place, split and move.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/storage.hpp>
#include <headrace/domains/view.hpp>

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace headrace {

/// A block of consecutive work units of a job: [begin, end).
struct IndexRange {
    std::uint64_t begin = 0, end = 0;
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return end - begin; }
    [[nodiscard]] constexpr bool empty() const noexcept { return end <= begin; }
    friend constexpr bool operator==(IndexRange, IndexRange) = default;
};

/// What stands behind a Domain, without its element type. Jobs share it, so a domain may go out of scope
/// first.
///
/// Threads: any; the coherence core and the mutex within see to it.
class HEADRACE_EXPORT DomainData {
public:
    /// Adds `size` bytes of one image to another, element by element; from Domain<T>, which knows T.
    using Add = void (*)(void* to, const void* from, Bytes size);

    /// What an element is made of, if it is of numbers of one type.
    struct Numbers {
        Add add;
        NumberType type; ///< none: no job adds to them
    };

    DomainData(std::string name, Extent extent, Bytes element_size, Numbers numbers, void* borrowed);
    DomainData(std::string name, Extent extent, Bytes element_size, Numbers numbers,
               std::shared_ptr<void> host);

    [[nodiscard]] const std::string& name() const noexcept { return storage_.name(); }
    [[nodiscard]] const Extent& extent() const noexcept { return extent_; }
    [[nodiscard]] Bytes element_size() const noexcept { return element_size_; }
    [[nodiscard]] Storage& storage() noexcept { return storage_; }

    /// The replica to which `controller`'s device adds, and when its zeroes are in place.
    struct Accumulator {
        Memory* memory;
        Event zeroed;
    };
    /// Makes the replica on first use since the last reduction. `stream` fills it with zeroes. Threads: one
    /// at a time for each controller.
    [[nodiscard]] Accumulator accumulator(Controller& controller, Stream& stream);
    /// Adds all replicas to the host image, in the order of first use (summation.hpp), and drops them.
    /// Blocks.
    void reduce();
    /// A job that added to the replicas has ended: its sums cannot be computed again. Never blocks.
    void seal() noexcept { ++seals_; }
    /// Forgets the replica of a lost device. Sums of running jobs are computed again; if it also held those
    /// of ended jobs, `error` is what gather will throw.
    void drop_replica(const Controller& controller, const ErrorPtr& error);

    /// A job that uses the data was submitted; `end` settles when it has ended.
    void used_by(const Event& end, Access access);
    /// Waits for the jobs that write the data, reduces, brings the host image up to date and returns it.
    /// Blocks; throws what the data's last writer failed with.
    [[nodiscard]] void* gather();
    /// Waits for the jobs that use the data; then the host image is the caller's to write, sums that were
    /// lost are forgotten, and every other image counts as stale.
    [[nodiscard]] void* fill();
    /// Its controller goes away: what its replica holds is reduced first.
    void forget(const Controller& controller);

private:
    struct Replica {
        Controller* controller;
        std::unique_ptr<Memory> memory;
        Event zeroed;
        std::uint64_t made_at; ///< that many seals: others came later
    };

    struct User {
        Event end;
        bool writes;
    };

    [[nodiscard]] std::vector<Event> users(bool also_readers);
    [[nodiscard]] std::unique_lock<std::mutex> lock_without_users(bool also_readers);
    void add_up(const Controller* only);

    Storage storage_;
    Extent extent_;
    Bytes element_size_;
    Numbers numbers_;
    std::mutex users_mutex_;
    std::vector<User> users_; ///< jobs, without most of those that have ended
    std::size_t many_users_ = 16;
    std::atomic<std::uint64_t> seals_ = 0;
    std::mutex mutex_; ///< held while sums are added up
    std::vector<Replica> replicas_;
    ErrorPtr lost_; // sums that are gone for good
};

namespace detail {
template <class T>
void add_elements(void* to, const void* from, Bytes size) {
    if constexpr (requires { typename T::Scalar; }) {
        add_elements<typename T::Scalar>(to, from, size);
    } else if constexpr (number_type<T>() != NumberType::none) {
        auto* sum = static_cast<T*>(to);
        const auto* amount = static_cast<const T*>(from);
        for (Bytes i = 0; i < size / sizeof(T); ++i) sum[i] += amount[i];
    }
}
template <class T>
constexpr NumberType numbers_of() {
    if constexpr (requires { typename T::Scalar; })
        return numbers_of<typename T::Scalar>();
    else
        return number_type<T>();
}
template <class T>
constexpr DomainData::Numbers numbers{&add_elements<T>, numbers_of<T>()};
} // namespace detail

/// Registered user data: `T` elements in one to three dimensions, row-major. A handle; copies share the data.
///
/// Shapes    {n}, {rows, columns} or {planes, rows, columns}; opaque bytes are a Domain<std::byte>
/// Storage   owned (undefined until written, zero for accumulation), or borrowed from the caller, who keeps
///           it alive while the domain or a job that uses it lives
/// Threads   any
/// Errors    invalid_argument for a size of zero or one that overflows; out_of_memory
template <class T>
class Domain {
    static_assert(std::is_trivially_copyable_v<T>, "domains move between memories as bytes");

public:
    using Element = T;

    Domain(std::string name, Extent extent) : Domain(std::move(name), extent, nullptr) {}
    Domain(std::string name, std::initializer_list<std::uint64_t> extent)
        : Domain(std::move(name), to_extent(extent), nullptr) {}
    /// Borrows; the contents count as written.
    Domain(std::string name, std::span<T> elements)
        : Domain(std::move(name), Extent{{elements.size(), 1, 1}}, elements.data()) {}
    Domain(std::string name, Extent extent, T* borrowed)
        : data_(std::make_shared<DomainData>(std::move(name), extent, sizeof(T), detail::numbers<T>,
                                             borrowed)) {}

    /// In host memory of a device's, from and to which it copies at full speed (pinned):
    /// `Domain<float> d("d", {n}, runtime.allocate_host(n * sizeof(float)))`. Undefined until written.
    Domain(std::string name, Extent extent, std::shared_ptr<void> host)
        : data_(std::make_shared<DomainData>(std::move(name), extent, sizeof(T), detail::numbers<T>,
                                             std::move(host))) {}
    Domain(std::string name, std::initializer_list<std::uint64_t> extent, std::shared_ptr<void> host)
        : Domain(std::move(name), to_extent(extent), std::move(host)) {}

    [[nodiscard]] const std::string& name() const noexcept { return data_->name(); }
    [[nodiscard]] const Extent& extent() const noexcept { return data_->extent(); }
    [[nodiscard]] std::uint64_t size() const noexcept { return data_->extent().size(); }

    /// The elements on the host, up to date. Blocks until every job that writes the domain and was submitted
    /// before has ended: not for a task or a hook of such a job. But for what a full device has no room for,
    /// nothing comes back before.
    [[nodiscard]] std::span<const T> gather() const {
        return {static_cast<const T*>(data_->gather()), static_cast<std::size_t>(size())};
    }
    /// The host's elements for the caller to write; every other image counts as stale from now on. Blocks
    /// like gather, and until jobs that read the domain have ended, too.
    [[nodiscard]] std::span<T> fill() const {
        return {static_cast<T*>(data_->fill()), static_cast<std::size_t>(size())};
    }

    [[nodiscard]] const std::shared_ptr<DomainData>& data() const noexcept { return data_; }

private:
    static Extent to_extent(std::initializer_list<std::uint64_t> sizes) {
        if (sizes.size() == 0 || sizes.size() > 3)
            throw Error{ErrorKind::invalid_argument, "a domain has one to three dimensions"};
        Extent extent;
        std::size_t dimension = 0;
        for (const std::uint64_t size : sizes) extent.n[dimension++] = size;
        return extent;
    }

    std::shared_ptr<DomainData> data_;
};

} // namespace headrace
