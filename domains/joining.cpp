// domains/joining.cpp - what ways of joining have in common, and sums: see joining.hpp.
#include <headrace/core/controller.hpp>
#include <headrace/domains/domain.hpp>
#include <headrace/domains/joining.hpp>
#include <headrace/domains/summation.hpp>

#include <cstring>

namespace headrace {

Bytes Joining::replica_bytes(const DomainData& data, const DeviceInfo&) const { return data.bytes(); }

void Joining::write_unwritten(const DomainData&, std::byte* image, Bytes begin, Bytes end) const {
    std::memset(image + begin, 0, end - begin);
}

namespace {

class SumJoining final : public Joining {
public:
    [[nodiscard]] std::string_view declaration() const noexcept override { return "accumulates"; }
    [[nodiscard]] std::string_view view() const noexcept override { return "sum"; }
    [[nodiscard]] Event begin(DomainData&, Memory& replica, Stream& stream) const override {
        return stream.fill_zero(replica, 0, replica.size());
    }
    void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const override {
        Summation summation(data.bytes(), data.element_size(), data.numbers());
        try {
            for (const Replica* const replica : joined.replicas)
                summation.include(replica->controller->device(), *replica->memory, replica->ready);
            summation.into(joined.image, joined.is_blank);
        } catch (...) {
            is_mixed = summation.has_mixed();
            throw;
        }
    }
};

} // namespace

const Joining& joins_sums() noexcept {
    static const SumJoining joining;
    return joining;
}

} // namespace headrace
