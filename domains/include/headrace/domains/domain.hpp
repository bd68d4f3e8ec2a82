// domains/domain.hpp - user data that the runtime can place, split and move.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/index_range.hpp>
#include <headrace/core/storage.hpp>
#include <headrace/domains/detail/domain_users.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/detail/pending_join.hpp>
#include <headrace/domains/detail/sorting.hpp>
#include <headrace/domains/view.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace headrace {

/// The data of a Domain, without its element type. Jobs share it, so the Domain may go out of scope before
/// they end.
///
/// Threads: any; the coherence core and the mutexes of this class order the calls.
class HEADRACE_EXPORT DomainData {
public:
    /// Adds `size` bytes of one replica to another, element by element. Domain<T> supplies it, for type T.
    using Add = void (*)(void* to, const void* from, Bytes size);

    /// The numbers that an element consists of, if all have one type.
    struct Numbers {
        Add add;
        NumberType type; ///< none: no job adds to the elements
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

    /// The private replica to which `controller`'s device writes, and the event of its first contents.
    struct OwnReplica {
        Memory* memory;
        Event ready;
    };
    /// Makes the private replica at its first use after a join. `stream` writes its first contents. Threads:
    /// one at a time for each controller.
    [[nodiscard]] OwnReplica replica(const Joining& joining, Controller& controller, Stream& stream);
    /// Gets the parts that other ranks have written. Joins all private replicas into the host replica, in the
    /// order of first use, and drops them. If one was lost for good, the data fail: a reader gets the error,
    /// until a job writes the data again. Blocks.
    void join();
    /// How private replicas are joined before the data are used in another way; null: there are none. If not
    /// null, `join` may block.
    [[nodiscard]] const Joining* joining() const noexcept { return joining_; }
    /// A job that wrote to private replicas has ended with success: its work cannot be repeated. Elements
    /// that were never written have the contents that `joining` defines. Never blocks.
    void seal(const Joining& joining) noexcept {
        ++seals_;
        joining_ = &joining;
    }
    /// What the next join has to do beside joining private replicas.
    [[nodiscard]] PendingJoin& pending() noexcept { return pending_; }
    /// A job is about to use the data with this way of joining; `is_shared`: by the ranks of a cluster. True:
    /// `join_before` has to be called first, and may block. False: the job may begin.
    [[nodiscard]] bool needs_join(const Joining* joining, bool is_shared);
    /// Joins what jobs before it have left apart. Private replicas of its own turn stay.
    void join_before(const Joining* joining, bool is_shared);
    /// A job that was to write these elements has failed: see mark_failed in core. Never blocks.
    void fail(IndexRange elements, const ErrorPtr& error);
    /// A job that was to write to private replicas has failed. Never blocks.
    void fail_replicas(const Joining& joining, const ErrorPtr& error);
    /// Forgets the private replica of a lost device. The work of running jobs on it is repeated. If it also
    /// held work of ended jobs, gather throws `error`.
    void drop_replica(const Controller& controller, const ErrorPtr& error);
    /// Contents before some private replicas were joined while others stay; empty: there was no such join.
    [[nodiscard]] std::vector<std::byte>& base() noexcept { return base_; }

    /// Number of records in the data, if jobs append to them; else 0. A join changes it.
    [[nodiscard]] std::uint64_t records() const noexcept {
        const std::uint64_t records = records_;
        return records == no_records ? 0 : records;
    }
    void set_records(std::uint64_t records) noexcept { records_ = records; }
    /// All elements hold values, and there are no records.
    void set_written() noexcept { records_ = no_records; }
    /// Number of elements that hold values: the records, or all elements.
    [[nodiscard]] std::uint64_t filled() const noexcept {
        return std::min<std::uint64_t>(records_, extent_.size());
    }

    /// Jobs that use the data. A thread that submits a job holds the mutexes of all domains of the job
    /// (job_order.hpp).
    [[nodiscard]] std::mutex& users_mutex() noexcept { return users_mutex_; }
    [[nodiscard]] DomainUsers& users() noexcept { return users_; }
    /// Waits for the jobs that write the data, joins private replicas, updates the host replica and returns
    /// it. Blocks. Throws the failure of the data's last writer.
    [[nodiscard]] void* gather();
    /// Waits for the jobs that use the data. The caller may then write the host replica; all other replicas
    /// are out of date. An earlier failure is forgotten; the elements that it left are unspecified.
    [[nodiscard]] void* fill();
    /// Waits and joins as gather does, without copying anything to the host. Throws as gather.
    void wait_and_join();
    /// The same, and returns the number of records.
    [[nodiscard]] std::uint64_t count_records();
    /// The same as gather, for the records only.
    [[nodiscard]] std::span<const std::byte> gather_records();
    /// Waits for the jobs that use the data. The `count` elements at `records`, at most the domain's size,
    /// then replace the records. An earlier failure is forgotten.
    void assign_records(const void* records, std::uint64_t count);
    /// Waits for the jobs that use the data. The caller may then write the records in the host replica; all
    /// other replicas are out of date. Throws as gather.
    [[nodiscard]] std::span<std::byte> take_records();
    /// What the data hold, to be put back later, perhaps in another process.
    struct Contents {
        std::vector<IndexRange> written;      ///< elements that hold values; ascending, apart
        std::vector<std::byte> bytes;         ///< of these elements, one range behind the other
        std::optional<std::uint64_t> records; ///< nothing: the data are no records
        friend bool operator==(const Contents&, const Contents&) = default;
    };
    /// Waits and joins as gather does, and copies what was written. Throws as gather.
    [[nodiscard]] Contents contents();
    /// Waits for the jobs that use the data. They then have these contents, as after `contents()`: elements
    /// outside of them were never written. Private replicas, joins that other ranks wait for, and earlier
    /// failures are forgotten. Talks to no other rank. Errors: invalid_argument if the contents are none of
    /// such data.
    void restore(const Contents& contents);
    /// The controller goes away: its private replica is joined first.
    void forget(const Controller& controller);

private:
    [[nodiscard]] std::unique_lock<std::mutex> lock_without_users(bool also_readers);
    void join(const Controller* only);
    void join(const Joining& joining, std::span<const Replica* const> replicas);
    void join_of_ranks(const Joining& joining, RankJoin& ranks, std::vector<const Replica*> replicas,
                       const ErrorPtr& error);
    [[nodiscard]] RankJoin::Result result_of_join();
    void exchange_parts();
    void wait_for_requests();
    [[nodiscard]] bool is_apart(const Joining* joining, bool is_shared) const;
    void join_to_host(const Joining& joining, std::span<const Replica* const> replicas, bool is_blank);
    void write_unwritten(const Joining& joining, std::span<const Tile> parts);
    void expect_no_failure();
    void forget_replicas();

    Storage storage_;
    Extent extent_;
    Bytes element_size_;
    Numbers numbers_;
    std::mutex users_mutex_;
    DomainUsers users_;
    static constexpr std::uint64_t no_records = ~std::uint64_t{0};
    std::atomic<std::uint64_t> records_ = no_records;
    std::atomic<std::uint64_t> seals_ = 0;
    std::atomic<const Joining*> joining_ = nullptr; ///< of jobs since the last join
    bool is_of_ranks_ = false;                      ///< so are private replicas: of jobs that ranks share
    std::mutex mutex_;                              ///< held while private replicas are joined
    std::vector<Replica> replicas_;
    std::vector<std::byte> base_;
    PendingJoin pending_;
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

/// Registered user data: `T` elements in 1 to 3 dimensions, row-major. A handle; copies share the data.
///
/// Shapes    {n}, {rows, columns} or {planes, rows, columns}; opaque bytes are a Domain<std::byte>
/// Storage   owned (undefined until written, zero for accumulation), or borrowed: the caller keeps it alive
///           while the domain or a job that uses it lives
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
    /// Borrows the elements; their contents count as written.
    Domain(std::string name, std::span<T> elements)
        : Domain(std::move(name), Extent{{elements.size(), 1, 1}}, elements.data()) {}
    Domain(std::string name, Extent extent, T* borrowed)
        : data_(std::make_shared<DomainData>(std::move(name), extent, sizeof(T), detail::numbers<T>,
                                             borrowed)) {}

    /// In pinned host memory, from and to which a device copies at full speed: `Domain<float> d("d", {n},
    /// runtime.allocate_host(n * sizeof(float)))`. Undefined until written.
    Domain(std::string name, Extent extent, std::shared_ptr<void> host)
        : data_(std::make_shared<DomainData>(std::move(name), extent, sizeof(T), detail::numbers<T>,
                                             std::move(host))) {}
    Domain(std::string name, std::initializer_list<std::uint64_t> extent, std::shared_ptr<void> host)
        : Domain(std::move(name), to_extent(extent), std::move(host)) {}

    [[nodiscard]] const std::string& name() const noexcept { return data_->name(); }
    [[nodiscard]] const Extent& extent() const noexcept { return data_->extent(); }
    [[nodiscard]] std::uint64_t size() const noexcept { return data_->extent().size(); }

    /// The elements on the host, up to date. Blocks until all jobs have ended that write the domain and were
    /// submitted before. Until this call data stay on the devices, except those that a full device evicts.
    /// Errors    the failure of a job that was to write the domain or add to it, until the domain is written
    ///           again; invalid_argument inside a task of such a job
    [[nodiscard]] std::span<const T> gather() const {
        return {static_cast<const T*>(data_->gather()), static_cast<std::size_t>(size())};
    }
    /// The host's elements, for the caller to write; all other replicas are then out of date. Blocks like
    /// gather, and also until jobs that read the domain have ended. Clears an earlier failure: the elements
    /// are then unspecified.
    [[nodiscard]] std::span<T> fill() const {
        return {static_cast<T*>(data_->fill()), static_cast<std::size_t>(size())};
    }

    // The next calls are for a domain that jobs append to. Its size is its capacity in records. Jobs that
    // read or update it, and gather(), get the records; elements behind them are unspecified. fill() and a
    // job that writes the domain write elements that are not records: afterwards there are no records.

    /// Number of records: those of clear() or assign(), and all that jobs have appended since. Blocks and
    /// fails like gather. Copies no records.
    [[nodiscard]] std::uint64_t count() const { return data_->count_records(); }
    /// The records, on the host, as gather would return them.
    [[nodiscard]] std::span<const T> records() const {
        const std::span<const std::byte> bytes = data_->gather_records();
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    /// Removes all records. Blocks like fill, and clears an earlier failure.
    void clear() const { data_->assign_records(nullptr, 0); }
    /// Replaces the records. Blocks like fill, and clears an earlier failure. Errors: invalid_argument for
    /// more records than the domain's size.
    void assign(std::span<const T> records) const { data_->assign_records(records.data(), records.size()); }
    /// Sorts the records on the host and returns them. `order` is a function of two records that tells if the
    /// first comes before, or a function of one, or a member: its value then ascends. Equal records are
    /// ordered by their bytes. Without padding, the result does not depend on devices. Blocks like fill;
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
