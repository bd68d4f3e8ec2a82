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
constexpr const char* wrong = "is corrupted, or another program has written it: ";

[[noreturn]] void fail(const std::string& what) { throw Error{ErrorKind::invalid_argument, what}; }

/// What a domain is, for people too.
std::string shape_of(const DomainData& data) {
    const auto& n = data.extent().n;
    return fmt::format("{} x {} x {} elements of {} bytes", n[0], n[1], n[2], data.element_size());
}

/// Runs `read`. If it finds too few bytes, that is no fault of the library: they come from a file.
template <class Read>
auto read_or_fail(const Read& read) try {
    return read();
} catch (const Error& error) {
    if (error.kind() != ErrorKind::internal) throw;
    fail(std::string(wrong) + "its contents end too early");
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
    const auto count = read_or_fail([&] { return reader.get<std::uint64_t>(); });
    if (count != results.size())
        fail(fmt::format("{}it has the contents of {} domains, and the job writes {}", wrong, count,
                         results.size()));
    for (const auto& data : results) {
        const auto text = [&] { return reader.text(); };
        const std::string name = read_or_fail(text), shape = read_or_fail(text);
        if (name != data->name() || shape != shape_of(*data))
            fail(fmt::format("{}it has domain '{}' with {}, where the job has '{}' with {}", wrong, name,
                             shape, data->name(), shape_of(*data)));
        const DomainData::Contents contents = read_or_fail([&] { return read_contents(reader); });
        try {
            data->restore(contents);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::invalid_argument) throw;
            fail(wrong + error.message());
        }
    }
}

} // namespace headrace::epochs
