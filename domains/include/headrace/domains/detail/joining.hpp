// domains/detail/joining.hpp - what devices write to replicas of their own becomes one image again: the ways
// to do that. Private to domains/, but for its place in templates.
//
// Jobs that accumulate, reduce, scatter or append give each device a replica of the whole domain (or of what
// takes its place). Jobs that use one way of joining commute. Before the domain is used in another way, or is
// gathered, its replicas are joined to the host image.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace headrace {

class Controller;
class DomainData;

/// One device's replica.
struct Replica {
    Controller* controller;
    std::unique_ptr<Memory> memory;
    Event ready;           ///< it has its first contents
    std::uint64_t made_at; ///< when so many jobs that wrote to replicas of the domain had ended
};

/// What is joined, and to what.
struct JoinedReplicas {
    std::span<const Replica* const> replicas; ///< in the order of first use
    std::byte* image;                         ///< the host's
    bool is_blank;                            ///< nothing was ever written: the image holds anything
    bool others_stay;                         ///< the domain has more replicas, which will be joined later
};

/// One way. Objects are immutable and live as long as the program: two uses of a domain are joined in one way
/// if they name one object.
///
/// Threads: any; `join` one at a time for each domain.
class HEADRACE_EXPORT Joining {
public:
    virtual ~Joining() = default;
    Joining(const Joining&) = delete; // compared by address
    Joining& operator=(const Joining&) = delete;

    /// What a job says that uses it: "accumulates".
    [[nodiscard]] virtual std::string_view declaration() const noexcept = 0;
    /// How a task asks for it: "sum".
    [[nodiscard]] virtual std::string_view view() const noexcept = 0;
    /// Of a replica on that device.
    [[nodiscard]] virtual Bytes replica_bytes(const DomainData& data, const DeviceInfo& device) const;
    /// Enqueues on `stream` what gives a replica its first contents. The domain's image does not change from
    /// then on until replicas are joined.
    [[nodiscard]] virtual Event begin(DomainData& data, Memory& replica, Stream& stream) const = 0;
    /// Joins replicas to the image. Blocks. Errors: a device's, or what is wrong with the contents. Then
    /// `is_mixed` says that replicas or the image hold anything; else they are as before.
    virtual void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const = 0;
    /// The image takes part as a whole: it is on the host, and all of it written, when it is joined to, and
    /// is new afterwards. If not, `join` tells the core what of it has been written.
    [[nodiscard]] virtual bool replaces_image() const noexcept { return true; }
    /// Contents of elements that were never written, as bytes of the image. Zeroes, unless it says otherwise.
    virtual void write_unwritten(const DomainData& data, std::byte* image, Bytes begin, Bytes end) const;

protected:
    Joining() = default;
};

/// How many slots a device's replica has for sums: sum_slots.hpp.
struct SumLayout {
    std::uint32_t slots;      ///< a power of two
    std::uint32_t slot_bytes; ///< whole lines; 0: there is one slot
};
/// `bytes`: of the domain.
[[nodiscard]] HEADRACE_EXPORT SumLayout sum_layout(const DeviceInfo& device, Bytes bytes) noexcept;

/// Sums, added to zeroes: Job::accumulates.
[[nodiscard]] HEADRACE_EXPORT const Joining& joins_sums() noexcept;
/// Elements each written once, anywhere: Job::scatters.
[[nodiscard]] HEADRACE_EXPORT const Joining& joins_scattered() noexcept;
/// Records, behind each other: Job::appends.
[[nodiscard]] HEADRACE_EXPORT const Joining& joins_appended() noexcept;

} // namespace headrace
