// core/trace/trace_json.cpp - a trace as the JSON that chrome://tracing and ui.perfetto.dev open.
// Source  "Trace Event Format", Google, 2016: complete events (X), metadata (M), flows (s, f)
#include <headrace/core/trace.hpp>
#include <headrace/internal/core/sorted_indices.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>

namespace headrace {
namespace {

std::string quoted(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_number(std::string& out, std::uint64_t number) {
    char digits[20];
    out.append(digits, std::to_chars(digits, std::end(digits), number).ptr);
}

/// Microseconds are the time unit of the format. Three decimals, so nothing is rounded.
void append_microseconds(std::string& out, std::chrono::nanoseconds time) {
    const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
    append_number(out, nanoseconds / 1000);
    const std::string places = std::to_string(1000 + nanoseconds % 1000);
    out.append(".").append(places, 1);
}

/// The row in which an event is shown.
struct Place {
    std::uint64_t process, thread;
};

/// Writes events one after another. Each is an object with the common members, and members from the caller.
class Events {
public:
    void begin(char phase, Place place) {
        text_ += text_.empty() ? "\n" : ",\n";
        text_ += R"({"ph":")";
        text_ += phase;
        text_ += R"(","pid":)";
        append_number(text_, place.process);
        text_ += R"(,"tid":)";
        append_number(text_, place.thread);
    }
    void name(std::string_view quoted) { (text_ += R"(,"name":)") += quoted; }
    void at(std::chrono::nanoseconds time) { append_microseconds(text_ += R"(,"ts":)", time); }
    /// Appends text that is already JSON.
    std::string& more(std::string_view members) { return text_ += members; }
    void end() { text_ += '}'; }

    void metadata(Place place, std::string_view what, std::string_view name) {
        begin('M', place);
        text_.append(R"(,"name":")").append(what).append(R"(","args":{"name":)");
        text_ += quoted(name);
        text_ += '}';
        end();
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string text_;
};

} // namespace

std::string Trace::json() {
    const std::scoped_lock one(collecting_);
    collect();
    const std::scoped_lock lock(mutex_);

    // By their begin, so that rows are filled from left to right.
    const auto order = sorted_indices(spans_.size(), [this](std::size_t i) { return spans_[i].begin; });
    const Clock::time_point origin = order.empty() ? Clock::time_point{} : spans_[order.front()].begin;

    Events events;
    std::vector<std::string_view> devices; // process p is devices[p - 1]
    const auto process = [&](std::string_view device) {
        const auto known = std::ranges::find(devices, device);
        const auto number = static_cast<std::uint64_t>(known - devices.begin()) + 1;
        if (known == devices.end()) {
            devices.push_back(device);
            events.metadata({number, 0}, "process_name", device);
        }
        return number;
    };
    struct Row {
        std::uint64_t thread;
        Clock::time_point free_from;
    };
    std::vector<std::vector<Row>> rows(tracks_.size()); // spans of one row must not overlap
    std::uint64_t threads = 0;
    std::vector<std::optional<std::pair<Place, Clock::time_point>>> shown(last_ + 1); // by SpanId

    std::vector<std::string> names; // quoted once, because spans share them
    std::ranges::transform(names_, std::back_inserter(names), quoted);

    for (const std::size_t i : order) {
        const Span& span = spans_[i];
        const Unit& unit = sums_[tracks_[span.track].sum].unit;
        auto& mine = rows[span.track];
        auto row = std::ranges::find_if(mine, [&](const Row& each) { return each.free_from <= span.begin; });
        if (row == mine.end()) {
            row = mine.insert(mine.end(), {++threads, {}});
            events.metadata({process(unit.device), row->thread}, "thread_name", unit.name);
        }
        row->free_from = span.end;
        const Place place{process(unit.device), row->thread};
        events.begin('X', place);
        events.name(names[span.name]);
        events.at(span.begin - origin);
        append_microseconds(events.more(R"(,"dur":)"), span.end - span.begin);
        if (span.bytes != 0) {
            append_number(events.more(R"(,"args":{"bytes":)"), span.bytes);
            events.more("}");
        }
        events.end();
        shown[span.id] = {place, span.begin};
    }
    std::uint64_t number = 0;
    const auto arrow = [&](SpanId from, SpanId to, std::string_view category) {
        if (!shown[from] || !shown[to]) return; // one of them failed, or has not ended
        ++number;
        for (const auto& [phase, span] : {std::pair('s', from), std::pair('f', to)}) {
            events.begin(phase, shown[span]->first);
            events.name(category);
            events.at(shown[span]->second - origin);
            events.more(R"(,"cat":)").append(category).append(R"(,"bp":"e","id":)");
            append_number(events.more({}), number);
            events.end();
        }
    };
    // Viewers do not show an arrow that goes back in time. An arrow of data would go back if a driver counts
    // a launch as begun while it waits for its inputs. PoCL does this.
    const auto forwards = [&](std::pair<SpanId, SpanId> flow) {
        const auto &from = shown[flow.first], &to = shown[flow.second];
        if (from && to && to->second < from->second) std::swap(flow.first, flow.second);
        return flow;
    };
    std::set<std::pair<SpanId, SpanId>> drawn;
    for (const auto& [flows, category] : {std::pair(&flows_, R"("data")"), std::pair(&parts_, R"("part")")})
        for (const auto& flow : *flows)
            if (const auto [from, to] = forwards(flow); drawn.emplace(from, to).second)
                arrow(from, to, category);
    return R"({"displayTimeUnit":"ns","traceEvents":[)" + events.take() + "\n]}\n";
}

} // namespace headrace
