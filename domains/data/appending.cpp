// domains/data/appending.cpp - joins records that devices appended to private replicas, one behind the other:
// see joining.hpp.
//
// A join changes the host replica only behind its records, so other replicas of these records stay valid. A
// private replica has room for as many records as the domain, since one device may append all of them. Its
// counter, behind the records, also counts records that do not fit.
#include "data/replica_reader.hpp"
#include <headrace/core/controller.hpp>
#include <headrace/core/detail/submission.hpp>
#include <headrace/domains/append.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/domain.hpp>

#include <string>
#include <vector>

namespace headrace {
namespace {

class AppendJoining final : public Joining {
public:
    [[nodiscard]] std::string_view declaration() const noexcept override { return "appends"; }
    [[nodiscard]] std::string_view view() const noexcept override { return "append"; }
    [[nodiscard]] bool replaces_host_replica() const noexcept override { return false; }
    [[nodiscard]] Bytes replica_bytes(const DomainData& data, const DeviceInfo&) const override {
        return detail::counter_offset(data.bytes()) + detail::counter_line;
    }
    [[nodiscard]] Event begin(DomainData& data, Memory& replica, Stream& stream) const override {
        return stream.fill_zero(replica, detail::counter_offset(data.bytes()), detail::counter_line);
    }

    void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const override {
        const std::uint64_t before = data.records(), capacity = data.extent().size();
        std::vector<Part> parts;
        for (const Replica* const replica : joined.replicas)
            parts.push_back({ReplicaCopier(*replica), 0, {}});
        const Bytes counter = detail::counter_offset(data.bytes());
        for (Part& part : parts) part.came = part.copier.copy_out(&part.count, counter, sizeof part.count);
        std::uint64_t count = before;
        wait_for(parts);
        for (const Part& part : parts) count += part.count;
        if (count > capacity) {
            is_mixed = true; // the replicas lack some records
            throw Error{ErrorKind::invalid_argument,
                        "domain '" + data.name() + "' holds " + std::to_string(capacity) +
                            " records, and jobs have appended " + std::to_string(count) +
                            " since it was cleared: give it a larger size"};
        }
        const Bytes size = data.element_size();
        std::uint64_t end = before;
        for (Part& part : parts) {
            if (part.count != 0)
                part.came = part.copier.copy_out(joined.on_host + end * size, 0, part.count * size);
            end += part.count;
        }
        wait_for(parts);
        if (end > before) host_wrote(data.storage().tile(before * size, end * size));
        data.set_records(end);
    }

private:
    struct Part {
        ReplicaCopier copier;
        std::uint64_t count;
        Event came;
    };
    /// Waits for all parts, even if one fails: their copies write to memory that may be freed afterwards.
    static void wait_for(const std::vector<Part>& parts) {
        for (const Part& part : parts) static_cast<void>(part.came.outcome());
        for (const Part& part : parts) part.came.wait();
    }
};

} // namespace

const Joining& joins_appended() noexcept {
    static const AppendJoining joining;
    return joining;
}

} // namespace headrace
