// domains/data/contents.cpp - takes the contents of a domain, and puts them back: see domain.hpp.
#include <headrace/core/detail/submission.hpp>
#include <headrace/domains/domain.hpp>

#include <algorithm>
#include <cstring>

namespace headrace {

DomainData::Contents DomainData::contents() {
    const auto lock = lock_without_users(false);
    join(nullptr);
    expect_no_failure();
    Contents contents;
    if (const std::uint64_t records = records_; records != no_records) contents.records = records;
    const std::uint64_t filled = this->filled();
    std::uint64_t from = 0;
    const auto take = [&](std::uint64_t to) { // elements from `from` on
        if (from < to) contents.written.push_back({from, to});
    };
    for (const Tile& part : unwritten_parts(storage_.tile())) {
        take(std::min(part.begin() / element_size_, filled));
        from = part.end() / element_size_;
    }
    take(filled);
    for (const IndexRange elements : contents.written) {
        const Bytes begin = elements.begin * element_size_, end = elements.end * element_size_;
        headrace::gather(storage_.tile(begin, end)).wait();
        const auto* const host = static_cast<const std::byte*>(storage_.host());
        contents.bytes.insert(contents.bytes.end(), host + begin, host + end);
    }
    return contents;
}

void DomainData::restore(const Contents& contents) {
    std::uint64_t end = 0, elements = 0;
    bool fits = true;
    for (const IndexRange part : contents.written) {
        fits = fits && part.begin >= end && part.end > part.begin;
        end = part.end;
        elements += part.size();
    }
    fits = fits && end <= extent_.size() && contents.bytes.size() == elements * element_size_ &&
           contents.records.value_or(0) <= extent_.size();
    if (!fits)
        throw Error{ErrorKind::invalid_argument,
                    "domain '" + name() + "': these contents are not those of such a domain"};
    const auto lock = lock_without_users(true);
    forget_replicas();
    wait_for_requests();
    mark_unwritten(storage_.tile());
    const std::byte* from = contents.bytes.data();
    for (const IndexRange part : contents.written) {
        const Bytes begin = part.begin * element_size_, size = part.size() * element_size_;
        std::memcpy(static_cast<std::byte*>(storage_.host()) + begin, from, size);
        host_wrote(storage_.tile(begin, begin + size));
        from += size;
    }
    records_ = contents.records.value_or(no_records);
}

} // namespace headrace
