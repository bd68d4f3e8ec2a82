// domains/epochs/snapshot.cpp - see snapshot.hpp.
#include <headrace/internal/domains/cluster/message.hpp>
#include <headrace/internal/domains/epochs/snapshot.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace headrace::epochs {
namespace {

using cluster::Reader;
using cluster::Writer;

constexpr std::uint64_t no_records = ~std::uint64_t{0};

[[noreturn]] void fail(const std::string& what) { throw Error{ErrorKind::invalid_argument, what}; }

/// What a domain is, for people too.
std::string shape_of(const DomainData& data) {
    const auto& n = data.extent().n;
    return fmt::format("{} x {} x {} elements of {} bytes", n[0], n[1], n[2], data.element_size());
}

DomainData::Contents read_contents(Reader& reader) {
    DomainData::Contents contents;
    const auto records = reader.get<std::uint64_t>();
    if (records != no_records) contents.records = records;
    for (auto ranges = reader.get<std::uint64_t>(); ranges > 0; --ranges) {
        const auto begin = reader.get<std::uint64_t>(), end = reader.get<std::uint64_t>();
        contents.written.push_back({begin, end});
    }
    const auto bytes = reader.bytes();
    contents.bytes.assign(bytes.begin(), bytes.end());
    return contents;
}

} // namespace

std::vector<std::shared_ptr<DomainData>> results_of(const Job& job) {
    std::vector<std::shared_ptr<DomainData>> results;
    for (const Job::Use& use : job.uses())
        if (use.joining || writes(use.access)) results.push_back(use.slice.data);
    return results;
}

Snapshot Snapshot::take(const Job& job, std::uint64_t done) {
    Writer writer;
    const auto results = results_of(job);
    writer.put<std::uint64_t>(results.size());
    for (const auto& data : results) {
        const DomainData::Contents contents = data->contents();
        writer.put(data->name()).put(shape_of(*data)).put(contents.records.value_or(no_records));
        writer.put<std::uint64_t>(contents.written.size());
        for (const IndexRange part : contents.written) writer.put(part.begin).put(part.end);
        writer.put(std::span<const std::byte>(contents.bytes));
    }
    return {done, writer.take()};
}

void Snapshot::join_only(const Job& job) {
    for (const auto& data : results_of(job)) data->wait_and_join();
}

void Snapshot::restore(const Job& job) const {
    Reader reader(bytes);
    const auto results = results_of(job);
    const auto count = reader.get<std::uint64_t>();
    if (count != results.size())
        fail(fmt::format("it has the contents of {} domains, and the job writes {}", count, results.size()));
    for (const auto& data : results) {
        const std::string name = reader.text(), shape = reader.text();
        if (name != data->name() || shape != shape_of(*data))
            fail(fmt::format("it has domain '{}' with {}, where the job has '{}' with {}", name, shape,
                             data->name(), shape_of(*data)));
        data->restore(read_contents(reader));
    }
}

} // namespace headrace::epochs
