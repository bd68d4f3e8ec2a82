// domains/data/joining.cpp - the common part of all ways of joining, and sums: see joining.hpp.
#include "data/number_joining.hpp"
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/domain.hpp>

#include <cstring>

namespace headrace {

Bytes Joining::replica_bytes(const DomainData& data, const DeviceInfo&) const { return data.bytes(); }

void Joining::write_unwritten(const DomainData&, std::byte* on_host, Bytes begin, Bytes end) const {
    std::memset(on_host + begin, 0, end - begin);
}

namespace {

class SumJoining final : public Joining {
public:
    [[nodiscard]] Bytes replica_bytes(const DomainData& data, const DeviceInfo& device) const override {
        return bytes_in_slots(data, device);
    }
    [[nodiscard]] std::string_view declaration() const noexcept override { return "accumulates"; }
    [[nodiscard]] std::string_view view() const noexcept override { return "sum"; }
    [[nodiscard]] Event begin(DomainData&, Memory& replica, Stream& stream) const override {
        return stream.fill_zero(replica, 0, replica.size());
    }
    void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const override {
        join_numbers(data, joined, {.numbers = data.numbers(), .has_slots = true}, is_mixed);
    }
};

} // namespace

const Joining& joins_sums() noexcept {
    static const SumJoining joining;
    return joining;
}

} // namespace headrace
