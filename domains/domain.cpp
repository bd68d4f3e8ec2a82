// domains/domain.cpp - see domain.hpp.
#include <headrace/core/submission.hpp>
#include <headrace/domains/domain.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

namespace headrace {
namespace {

Bytes checked_size(const std::string& name, const Extent& extent, Bytes element_size) {
    Bytes size = element_size;
    for (const std::uint64_t n : extent.n) {
        if (n == 0)
            throw Error{ErrorKind::invalid_argument, "domain '" + name + "' has a dimension of size zero"};
        if (size > std::numeric_limits<Bytes>::max() / n)
            throw Error{ErrorKind::invalid_argument,
                        "domain '" + name + "' has more bytes than can be addressed"};
        size *= n;
    }
    return size;
}

/// Calls `work` for pieces of [0, size), whole elements each, on several threads if it is much.
void in_pieces(Bytes size, Bytes element, const std::function<void(Bytes begin, Bytes end)>& work) {
    constexpr Bytes much = 2 << 20; // a thread costs what it takes to add some hundred kilobytes
    const Bytes most = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
    const Bytes pieces = std::clamp<Bytes>(size / much, 1, most);
    const Bytes elements = size / element;
    std::vector<std::jthread> others;
    for (Bytes i = 1; i < pieces; ++i)
        others.emplace_back(work, i * elements / pieces * element, (i + 1) * elements / pieces * element);
    work(0, elements / pieces * element);
}

} // namespace

DomainData::DomainData(std::string name, Extent extent, Bytes element_size, Numbers numbers, void* borrowed)
    : storage_(name, checked_size(name, extent, element_size), borrowed),
      extent_(extent),
      element_size_(element_size),
      numbers_(numbers) {}

DomainData::DomainData(std::string name, Extent extent, Bytes element_size, Numbers numbers,
                       std::shared_ptr<void> host)
    : storage_(name, checked_size(name, extent, element_size), std::move(host)),
      extent_(extent),
      element_size_(element_size),
      numbers_(numbers) {}

DomainData::Accumulator DomainData::accumulator(Controller& controller, Stream& stream) {
    const std::scoped_lock lock(mutex_);
    for (const Replica& replica : replicas_)
        if (replica.controller == &controller) return {replica.memory.get(), replica.zeroed};
    Replica replica{&controller, controller.device().allocate(storage_.bytes()), {}};
    replica.zeroed = stream.fill_zero(*replica.memory, 0, storage_.bytes());
    replicas_.push_back(std::move(replica));
    return {replicas_.back().memory.get(), replicas_.back().zeroed};
}

/// Each round halves those that reach each other. A part is taken out as soon as another one will hold it.
void DomainData::add_up_on_devices(std::vector<Part>& parts) const {
    if (numbers_.type == NumberType::none) return;
    for (bool added = true; added;) {
        added = false;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            Part& sum = parts[i];
            const auto other =
                std::find_if(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end(),
                             [&](const Part& part) { return sum.device->adds_from(*part.device); });
            if (other == parts.end()) continue;
            const Event both[] = {sum.ready, other->ready};
            sum.ready = sum.stream->add(*sum.memory, *other->memory, storage_.bytes(), numbers_.type, both);
            parts.erase(other);
            added = true;
        }
    }
}

void DomainData::reduce() {
    const std::scoped_lock lock(mutex_);
    if (lost_) throw Error{*lost_};
    if (replicas_.empty()) return;
    auto* sums = static_cast<std::byte*>(storage_.host());
    const std::vector<Tile> unwritten = unwritten_parts(storage_.tile());
    const bool from_zero = unwritten == std::vector{storage_.tile()};
    if (!from_zero) {
        take_to_host(storage_.tile());
        for (const Tile& part : unwritten) // where sums start from zero
            std::memset(sums + part.begin(), 0, part.size());
    }
    std::vector<std::shared_ptr<void>> images; // before the streams that copy to them, which are waited for
    std::vector<Part> parts;
    for (const Replica& replica : replicas_) {
        Device& device = replica.controller->device();
        parts.push_back({&device, replica.memory.get(), device.make_stream(), replica.zeroed});
    }
    try {
        add_up_on_devices(parts);
        std::vector<Event> copied; // from all devices at once: each has a bus of its own
        for (const Part& part : parts) {
            void* const image = images.emplace_back(part.device->allocate_host(storage_.bytes())).get();
            copied.push_back(
                part.stream->copy_out(image, *part.memory, 0, storage_.bytes(), {&part.ready, 1}));
        }
        Event::all(copied).wait();
        in_pieces(storage_.bytes(), element_size_, [&](Bytes begin, Bytes end) {
            // Always in one order, or sums would differ from run to run.
            for (const auto& image : images) {
                const std::byte* const amounts = static_cast<const std::byte*>(image.get()) + begin;
                if (from_zero && image == images.front())
                    std::memcpy(sums + begin, amounts, end - begin);
                else
                    numbers_.add(sums + begin, amounts, end - begin);
            }
        });
    } catch (...) {
        if (parts.size() < replicas_.size()) { // some hold those of others by now
            lost_ = current_error();
            parts.clear(); // waits for what uses the replicas
            replicas_.clear();
        }
        throw;
    }
    host_wrote(storage_.tile());
    replicas_.clear();
}

void DomainData::seal() {
    const std::scoped_lock lock(mutex_);
    for (Replica& replica : replicas_) replica.sealed = true;
}

void DomainData::drop_replica(const Controller& controller, const ErrorPtr& error) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(replicas_, [&](const Replica& replica) {
        if (replica.controller != &controller) return false;
        if (replica.sealed) lost_ = error;
        return true;
    });
}

void* DomainData::gather() {
    reduce();
    headrace::gather(storage_.tile()).wait();
    return storage_.host();
}

void* DomainData::fill() {
    reduce();
    take_to_host(storage_.tile());
    return storage_.host();
}

void DomainData::forget(const Controller& controller) {
    const bool holds_sums = [&] {
        const std::scoped_lock lock(mutex_);
        return std::ranges::any_of(replicas_,
                                   [&](const Replica& replica) { return replica.controller == &controller; });
    }();
    if (holds_sums) reduce();
}

} // namespace headrace
