// core/trace/trace_processes.cpp - requests of several processes in one trace: see trace.hpp.
#include <headrace/core/trace.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace headrace {
namespace {

class BytesWriter {
public:
    template <class T>
    void put(T value) {
        static_assert(std::is_arithmetic_v<T>);
        append(&value, sizeof value);
    }
    void put(std::string_view text) {
        put<std::uint64_t>(text.size());
        append(text.data(), text.size());
    }
    [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

private:
    void append(const void* from, std::size_t size) {
        const auto* const begin = static_cast<const std::byte*>(from);
        bytes_.insert(bytes_.end(), begin, begin + size);
    }
    std::vector<std::byte> bytes_;
};

/// Errors: internal, for bytes of another origin.
class BytesReader {
public:
    explicit BytesReader(std::span<const std::byte> bytes) : left_(bytes) {}

    template <class T>
    [[nodiscard]] T get() {
        T value;
        std::memcpy(&value, next(sizeof value).data(), sizeof value);
        return value;
    }
    /// A number that is at most `most`.
    template <class T>
    [[nodiscard]] T get_up_to(std::uint64_t most) {
        const T value = get<T>();
        if (value > most) fail();
        return value;
    }
    /// The index of one of so many things.
    [[nodiscard]] std::uint32_t get_index(std::size_t number) {
        const auto value = get<std::uint32_t>();
        if (value >= number) fail();
        return value;
    }
    /// How many things follow, of which each takes at least one byte.
    [[nodiscard]] std::uint64_t get_count() { return get_up_to<std::uint64_t>(left_.size()); }
    [[nodiscard]] std::string text() {
        const auto found = next(get<std::uint64_t>());
        return {reinterpret_cast<const char*>(found.data()), found.size()};
    }

private:
    [[noreturn]] static void fail() {
        throw Error{ErrorKind::internal, "the trace of another process cannot be read"};
    }
    std::span<const std::byte> next(std::uint64_t size) {
        if (size > left_.size()) fail();
        const auto found = left_.first(size);
        left_ = left_.subspan(size);
        return found;
    }
    std::span<const std::byte> left_;
};

std::int64_t count_of(std::chrono::steady_clock::time_point time) {
    return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

} // namespace

void Trace::show_as(Process own) {
    const std::scoped_lock lock(mutex_);
    own_ = std::move(own);
}

std::vector<std::byte> Trace::bytes() {
    const std::scoped_lock one(collecting_);
    collect();
    const std::scoped_lock lock(mutex_);
    BytesWriter out;
    out.put<std::uint64_t>(tracks_.size());
    for (const Track& track : tracks_) {
        out.put(std::string_view(sums_[track.sum].unit.device));
        out.put(std::string_view(sums_[track.sum].unit.name));
    }
    out.put<std::uint64_t>(names_.size());
    for (const std::string& name : names_) out.put(std::string_view(name));
    out.put(last_);
    out.put<std::uint64_t>(spans_.size());
    for (const Span& span : spans_) {
        out.put(span.id);
        out.put(span.track);
        out.put(span.name);
        out.put(span.bytes);
        out.put(count_of(span.begin));
        out.put(count_of(span.end));
    }
    for (const std::vector<Flow>* const flows : {&flows_, &parts_}) {
        out.put<std::uint64_t>(flows->size());
        for (const auto& [from, to] : *flows) {
            out.put(from);
            out.put(to);
        }
    }
    return out.take();
}

void Trace::add_process(Process process, std::span<const std::byte> bytes, const ToOwnClock& to_own) {
    BytesReader in(bytes);
    Other other;
    other.process = std::move(process);
    for (std::uint64_t left = in.get_count(); left > 0; --left) {
        Unit& unit = other.units.emplace_back();
        unit.device = in.text();
        unit.name = in.text();
    }
    for (std::uint64_t left = in.get_count(); left > 0; --left) other.names.push_back(in.text());
    other.last = in.get<SpanId>();
    const auto get_time = [&] {
        const std::chrono::nanoseconds time(in.get<std::int64_t>());
        return Clock::time_point(std::chrono::duration_cast<Clock::duration>(to_own(time)));
    };
    for (std::uint64_t left = in.get_count(); left > 0; --left) {
        Span span{};
        span.id = in.get_up_to<SpanId>(other.last);
        span.track = in.get_index(other.units.size());
        span.name = in.get_index(other.names.size());
        span.bytes = in.get<std::uint64_t>();
        span.begin = get_time();
        span.end = std::max(get_time(), span.begin);
        other.spans.push_back(span);
    }
    for (std::vector<Flow>* const flows : {&other.flows, &other.parts})
        for (std::uint64_t left = in.get_count(); left > 0; --left) {
            const auto from = in.get_up_to<SpanId>(other.last);
            flows->emplace_back(from, in.get_up_to<SpanId>(other.last));
        }
    const std::scoped_lock lock(mutex_);
    others_.push_back(std::move(other));
}

std::vector<Trace::Shown> Trace::shown() const {
    std::vector<Shown> all{{own_ ? &*own_ : nullptr, {}, names_, spans_, last_, flows_, parts_}};
    for (const Track& track : tracks_) all.front().units.push_back(&sums_[track.sum].unit);
    for (const Other& other : others_) {
        Shown& one = all.emplace_back(
            Shown{&other.process, {}, other.names, other.spans, other.last, other.flows, other.parts});
        for (const Unit& unit : other.units) one.units.push_back(&unit);
    }
    return all;
}

/// The earliest begin of a request.
Trace::Clock::time_point Trace::begin_of(std::span<const Shown> all) {
    std::optional<Clock::time_point> first;
    for (const Shown& process : all)
        for (const Span& span : process.spans) first = std::min(first.value_or(span.begin), span.begin);
    return first.value_or(Clock::time_point{});
}

} // namespace headrace
