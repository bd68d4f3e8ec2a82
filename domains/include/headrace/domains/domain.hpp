// domains/domain.hpp - user data that the runtime may place, split and move.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/storage.hpp>
#include <headrace/domains/detail/domain_users.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/detail/sorting.hpp>
#include <headrace/domains/view.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
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
    [[nodiscard]] Bytes bytes() const noexcept { return storage_.bytes(); }
    [[nodiscard]] const Numbers& numbers() const noexcept { return numbers_; }
    [[nodiscard]] Storage& storage() noexcept { return storage_; }

    /// The replica to which `controller`'s device writes, and when its first contents are in place.
    struct OwnReplica {
        Memory* memory;
        Event ready;
    };
    /// Makes the replica on first use since replicas were joined. `stream` gives it its first contents.
    /// Threads: one at a time for each controller.
    [[nodiscard]] OwnReplica replica(const Joining& joining, Controller& controller, Stream& stream);
    /// Joins all replicas to the host image, in the order of first use, and drops them. What was lost of them
    /// has failed: a reader of the data is told, until something writes them anew. Blocks.
    void join();
    /// How replicas are to be joined before the data are used in another way; null: there are none. `join`
    /// may then block.
    [[nodiscard]] const Joining* joining() const noexcept { return joining_; }
    /// A job that wrote to replicas has ended well: what it did cannot be done again, and elements that were
    /// never written are what `joining` says. Never blocks.
    void seal(const Joining& joining) noexcept {
        ++seals_;
        joining_ = &joining;
    }
    /// A job that was to write these elements has failed: see core's mark_failed. Never blocks.
    void fail(IndexRange elements, const ErrorPtr& error);
    /// A job that was to write to replicas has failed. Never blocks.
    void fail_replicas(const Joining& joining, const ErrorPtr& error);
    /// Forgets the replica of a lost device. What running jobs wrote to it is done again; if it also held
    /// what ended jobs wrote, `error` is what gather will throw.
    void drop_replica(const Controller& controller, const ErrorPtr& error);
    /// What the elements were before replicas were joined of which others stay; empty: what they are.
    [[nodiscard]] std::vector<std::byte>& base() noexcept { return base_; }

    /// How many records the data hold, if jobs append to them; else 0. Changed while replicas are joined.
    [[nodiscard]] std::uint64_t records() const noexcept {
        const std::uint64_t records = records_;
        return records == no_records ? 0 : records;
    }
    void set_records(std::uint64_t records) noexcept { records_ = records; }
    /// All elements hold something, and there are no records.
    void set_written() noexcept { records_ = no_records; }
    /// So many elements hold something: the records, or all.
    [[nodiscard]] std::uint64_t filled() const noexcept {
        return std::min<std::uint64_t>(records_, extent_.size());
    }

    /// Jobs that use the data. A thread that submits one holds the mutexes of all its domains
    /// (job_order.hpp).
    [[nodiscard]] std::mutex& users_mutex() noexcept { return users_mutex_; }
    [[nodiscard]] DomainUsers& users() noexcept { return users_; }
    /// Waits for the jobs that write the data, joins replicas, brings the host image up to date and returns
    /// it. Blocks; throws what the data's last writer failed with.
    [[nodiscard]] void* gather();
    /// Waits for the jobs that use the data; then the host image is the caller's to write, and every other
    /// image counts as stale. What failed before is forgotten, and what it left is anything.
    [[nodiscard]] void* fill();
    /// Waits and joins as gather does, and brings no records to the host. Throws as gather.
    [[nodiscard]] std::uint64_t count_records();
    /// As gather, for the records.
    [[nodiscard]] std::span<const std::byte> gather_records();
    /// Waits for the jobs that use the data. Then these, at most as many as there are elements, are their
    /// records. What failed before is forgotten.
    void assign_records(const void* records, std::uint64_t count);
    /// Waits for the jobs that use the data; then the host image of the records is the caller's to write, and
    /// every other one counts as stale. Throws as gather.
    [[nodiscard]] std::span<std::byte> take_records();
    /// Its controller goes away: its replica is joined first.
    void forget(const Controller& controller);

private:
    [[nodiscard]] std::unique_lock<std::mutex> lock_without_users(bool also_readers);
    void join(const Controller* only);
    void join(const Joining& joining, std::span<const Replica* const> replicas);
    void join_to_image(const Joining& joining, std::span<const Replica* const> replicas, bool is_blank);
    void write_unwritten(const Joining& joining, std::span<const Tile> parts);
    void lose(const ErrorPtr& error);
    void expect_no_failure();
    void forget_replicas();
    [[nodiscard]] ErrorPtr lost() const;

    Storage storage_;
    Extent extent_;
    Bytes element_size_;
    Numbers numbers_;
    std::mutex users_mutex_;
    DomainUsers users_;
    static constexpr std::uint64_t no_records = ~std::uint64_t{0};
    std::atomic<std::uint64_t> records_ = no_records;
    std::atomic<std::uint64_t> seals_ = 0;
    std::atomic<const Joining*> joining_ = nullptr; ///< of jobs since replicas were joined
    std::mutex mutex_;                              ///< held while replicas are joined
    std::vector<Replica> replicas_;
    std::vector<std::byte> base_;
    mutable std::mutex lost_mutex_; ///< never held for long
    ErrorPtr lost_;                 ///< why replicas are gone for good, or not what they should be
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
    /// before has ended. But for what a full device has no room for, nothing comes back before.
    /// Errors    what a job that was to write the domain, or to add to it, has failed with, until something
    ///           writes the domain anew; invalid_argument inside a task of such a job
    [[nodiscard]] std::span<const T> gather() const {
        return {static_cast<const T*>(data_->gather()), static_cast<std::size_t>(size())};
    }
    /// The host's elements for the caller to write; every other image counts as stale from now on. Blocks
    /// like gather, and until jobs that read the domain have ended, too. Heals a domain: after a failure the
    /// elements hold anything.
    [[nodiscard]] std::span<T> fill() const {
        return {static_cast<T*>(data_->fill()), static_cast<std::size_t>(size())};
    }

    // Of a domain that jobs append to. Its size is the most records that it holds. Jobs that read or update
    // it get the records, and elements behind them hold anything, as they do in gather(). fill(), and a job
    // that writes the domain, write elements that are no records: there are none then.

    /// How many records the domain holds: of clear() or assign(), and what jobs have appended since. Blocks,
    /// and fails, like gather; moves none of them.
    [[nodiscard]] std::uint64_t count() const { return data_->count_records(); }
    /// They, as gather would give them.
    [[nodiscard]] std::span<const T> records() const {
        const std::span<const std::byte> bytes = data_->gather_records();
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    /// There are none from now on. Blocks like fill, and heals like it.
    void clear() const { data_->assign_records(nullptr, 0); }
    /// These are the records from now on. Blocks like fill, and heals like it. Errors: invalid_argument for
    /// more than the domain's size
    void assign(std::span<const T> records) const { data_->assign_records(records.data(), records.size()); }
    /// The records, brought into an order on the host: by a function of two that says whether the first one
    /// comes before, or by a function of one, or a member, whose value grows. Equal ones are ordered by their
    /// bytes. So the result does not depend on devices, unless records have padding. Blocks like fill;
    /// several threads call `order`.
    template <class Order>
    std::span<const T> sorted_by(Order order) const {
        const std::span<std::byte> bytes = data_->take_records();
        const std::span<T> records(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
        detail::sort_records(records, order);
        return records;
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
