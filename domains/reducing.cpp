// domains/reducing.cpp - see reducing.hpp.
#include <headrace/core/controller.hpp>
#include <headrace/domains/domain.hpp>
#include <headrace/domains/reducing.hpp>
#include <headrace/domains/summation.hpp>

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace headrace {
namespace {

std::string name_of(const std::type_info& type) {
    struct Free {
        void operator()(char* name) const { std::free(name); } // as the call below wants it
    };
    int status = 0;
    const std::unique_ptr<char, Free> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status));
    return name ? name.get() : type.name();
}

} // namespace

ReductionJoining::ReductionJoining(Combine combine, Pattern identity, const std::type_info& operation)
    : combine_(combine), identity_(identity), declaration_("reduces<" + name_of(operation) + ">") {}

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
