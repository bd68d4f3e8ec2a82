// domains/detail/joining.hpp - ways to join what several devices wrote to private replicas into one replica.
// Internal to domains/; only templates in public headers use it.
//
// A job that accumulates, reduces, scatters or appends gives each device a private replica of the whole
// domain, or words or slots in its place. Jobs with the same way of joining commute. Before another use or a
// gather, the private replicas are joined into the host replica.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/index_range.hpp>
#include <headrace/domains/detail/lane_slots.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headrace {

class Controller;
class DomainData;

/// The private replica of one device.
struct Replica {
    Controller* controller; ///< null: of a device of another rank
    Device* device;
    std::unique_ptr<Memory> memory;
    Event ready;           ///< it has its first contents
    std::uint64_t made_at; ///< value of the domain's `seals_` when this was made
};

class Joining;

/// Brings together what all ranks of a cluster have of one domain, after the last job that they shared:
/// domains/cluster/. Rank 0 joins private replicas as if all were its own, and the others receive the result.
///
/// Threads: one at a time. Errors: those of any rank, and the loss of a rank.
class HEADRACE_EXPORT RankJoin {
public:
    /// What the host replica holds afterwards, from its beginning.
    struct Result {
        std::vector<std::byte> contents;
        std::optional<std::uint64_t> records; ///< nothing: it holds no records
    };
    RankJoin(const RankJoin&) = delete;
    RankJoin& operator=(const RankJoin&) = delete;
    virtual ~RankJoin() = default;

    [[nodiscard]] virtual bool is_first_rank() const = 0;
    /// An order of joins that is the same on all ranks: of one submitter, later jobs come later.
    [[nodiscard]] virtual bool follows(const RankJoin& other) const = 0;
    /// On rank 0: the private replicas of all other ranks, in their order. Blocks.
    [[nodiscard]] virtual std::vector<Replica> receive() = 0;
    /// On rank 0: all ranks get this, or the error.
    virtual void publish(const Result& result) = 0;
    virtual void publish(const Error& error) = 0;
    /// On another rank: sends its private replicas, or why there are none. Returns the result. Blocks.
    [[nodiscard]] virtual Result exchange(const DomainData& data, const Joining& joining,
                                          std::span<const Replica* const> mine, const ErrorPtr& error) = 0;
    /// `mine`: elements that this rank has written, now in its host replica; or why there are none. Writes
    /// what the other ranks have written into the host replica, and returns these elements. Blocks.
    [[nodiscard]] virtual std::vector<IndexRange>
    exchange_parts(DomainData& data, std::span<const IndexRange> mine, const ErrorPtr& error) = 0;

protected:
    RankJoin() = default;
};

/// Source and destination of a join.
struct JoinedReplicas {
    std::span<const Replica* const> replicas; ///< in the order of first use
    std::byte* on_host;                       ///< the host replica
    bool is_blank;                            ///< nothing was ever written: `on_host` has no contents
    bool others_stay;                         ///< the domain has more private replicas, for a later join
};

/// One way of joining. Objects are immutable and live until the program ends. Two uses of a domain have the
/// same way of joining if they name the same object.
///
/// Threads: any; `join` one at a time for each domain.
class HEADRACE_EXPORT Joining {
public:
    virtual ~Joining() = default;
    Joining(const Joining&) = delete; // compared by address
    Joining& operator=(const Joining&) = delete;

    /// The declaration in a job that uses this way: "accumulates".
    [[nodiscard]] virtual std::string_view declaration() const noexcept = 0;
    /// The call in a task for the view: "sum".
    [[nodiscard]] virtual std::string_view view() const noexcept = 0;
    /// Size of a private replica on that device.
    [[nodiscard]] virtual Bytes replica_bytes(const DomainData& data, const DeviceInfo& device) const;
    /// Enqueues on `stream` the write of a private replica's first contents. From then until the join, the
    /// domain's other replicas do not change.
    [[nodiscard]] virtual Event begin(DomainData& data, Memory& replica, Stream& stream) const = 0;
    /// Joins private replicas into the host replica. Blocks. Errors: a device's, or invalid contents. After
    /// an error, `is_mixed` is true if the contents of replicas are unspecified; else they are unchanged.
    virtual void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const = 0;
    /// True: the whole host replica takes part. It is on the host and completely written before `join`, and
    /// is the newest afterwards. False: `join` itself tells the core which parts of it were written.
    [[nodiscard]] virtual bool replaces_host_replica() const noexcept { return true; }
    /// Writes the contents of elements that were never written into the host replica; zeroes by default.
    virtual void write_unwritten(const DomainData& data, std::byte* on_host, Bytes begin, Bytes end) const;

protected:
    Joining() = default;
};

/// The slots of a device's private replica of a domain of so many bytes: lane_slots.hpp.
[[nodiscard]] HEADRACE_EXPORT detail::LaneSlots lane_slots(const DeviceInfo& device, Bytes bytes) noexcept;

/// Sums, added to zeroes: Job::accumulates.
[[nodiscard]] HEADRACE_EXPORT const Joining& joins_sums() noexcept;
/// Elements anywhere, each written once: Job::scatters.
[[nodiscard]] HEADRACE_EXPORT const Joining& joins_scattered() noexcept;
/// Records, one behind the other: Job::appends.
[[nodiscard]] HEADRACE_EXPORT const Joining& joins_appended() noexcept;

} // namespace headrace
