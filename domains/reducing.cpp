// domains/reducing.cpp - see reducing.hpp.
#include <headrace/core/controller.hpp>
#include <headrace/domains/domain.hpp>
#include <headrace/domains/reducing.hpp>
#include <headrace/domains/summation.hpp>

namespace headrace {

ReductionJoining::ReductionJoining(Combine combine, Pattern identity, std::string_view operation)
    : combine_(combine),
      identity_(identity),
      declaration_("reduces<" + std::string(operation) + ">"),
      view_("reduce<" + std::string(operation) + ">") {}

Event ReductionJoining::begin(DomainData&, Memory& replica, Stream& stream) const {
    return stream.fill(replica, 0, replica.size(), identity_);
}

void ReductionJoining::join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const {
    // Devices cannot combine: it all comes to the host, which takes it up piece by piece.
    Summation results(data.bytes(), data.element_size(), {combine_, NumberType::none});
    try {
        for (const Replica* const replica : joined.replicas)
            results.include(replica->controller->device(), *replica->memory, replica->ready);
        results.into(joined.image, joined.is_blank);
    } catch (...) {
        is_mixed = results.has_mixed();
        throw;
    }
}

void ReductionJoining::write_unwritten(const DomainData&, std::byte* image, Bytes begin, Bytes end) const {
    identity_.write(image + begin, end - begin);
}

} // namespace headrace
