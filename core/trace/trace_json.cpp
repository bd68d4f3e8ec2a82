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
#include <span>
#include <string>
#include <utility>
#include <vector>

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

/// Writes the requests of one process after another.
class Trace::JsonWriter {
public:
    explicit JsonWriter(Clock::time_point origin) : origin_(origin) {}

    void add(const Shown& process) {
        rows_.assign(process.units.size(), {});
        shown_.assign(process.last + std::size_t{1}, {});
        names_.clear();
        std::ranges::transform(process.names, std::back_inserter(names_), quoted);
        if (process.process != nullptr)
            events_.metadata({process.process->number, 0}, "process_name", process.process->name);
        // By their begin, so that rows are filled from left to right.
        for (const std::size_t i :
             sorted_indices(process.spans.size(), [&](std::size_t at) { return process.spans[at].begin; }))
            add(process, process.spans[i]);
        std::set<Flow> drawn;
        for (const auto& [flows, category] :
             {std::pair(process.flows, R"("data")"), std::pair(process.parts, R"("part")")})
            for (const Flow& flow : flows)
                if (const auto [from, to] = forwards(flow); drawn.emplace(from, to).second)
                    add_arrow(from, to, category);
    }
    [[nodiscard]] std::string take() { return events_.take(); }

private:
    struct Row {
        std::uint64_t thread;
        Clock::time_point free_from;
    };

    /// Several processes have a number each. If there is one, each of its devices has one.
    std::uint64_t process_of(const Shown& process, std::string_view device) {
        if (process.process != nullptr) return process.process->number;
        const auto known = std::ranges::find(devices_, device);
        const auto number = static_cast<std::uint64_t>(known - devices_.begin()) + 1;
        if (known == devices_.end()) {
            devices_.push_back(device);
            events_.metadata({number, 0}, "process_name", device);
        }
        return number;
    }
    [[nodiscard]] static std::string thread_name(const Shown& process, const Unit& unit) {
        return process.process == nullptr || unit.name == unit.device ? unit.name
                                                                      : unit.device + " " + unit.name;
    }
    void add(const Shown& process, const Span& span) {
        const Unit& unit = *process.units[span.track];
        auto& mine = rows_[span.track];
        auto row = std::ranges::find_if(mine, [&](const Row& each) { return each.free_from <= span.begin; });
        if (row == mine.end()) {
            row = mine.insert(mine.end(), {++threads_, {}});
            events_.metadata({process_of(process, unit.device), row->thread}, "thread_name",
                             thread_name(process, unit));
        }
        row->free_from = span.end;
        const Place place{process_of(process, unit.device), row->thread};
        events_.begin('X', place);
        events_.name(names_[span.name]);
        events_.at(span.begin - origin_);
        append_microseconds(events_.more(R"(,"dur":)"), span.end - span.begin);
        if (span.bytes != 0) {
            append_number(events_.more(R"(,"args":{"bytes":)"), span.bytes);
            events_.more("}");
        }
        events_.end();
        shown_[span.id] = {place, span.begin};
    }
    void add_arrow(SpanId from, SpanId to, std::string_view category) {
        if (!shown_[from] || !shown_[to]) return; // one of them failed, or has not ended
        ++arrows_;
        for (const auto& [phase, span] : {std::pair('s', from), std::pair('f', to)}) {
            events_.begin(phase, shown_[span]->first);
            events_.name(category);
            events_.at(shown_[span]->second - origin_);
            events_.more(R"(,"cat":)").append(category).append(R"(,"bp":"e","id":)");
            append_number(events_.more({}), arrows_);
            events_.end();
        }
    }
    /// Viewers do not show an arrow that goes back in time. An arrow of data would go back if a driver counts
    /// a launch as begun while it waits for its inputs. PoCL does this.
    [[nodiscard]] Flow forwards(Flow flow) const {
        const auto &from = shown_[flow.first], &to = shown_[flow.second];
        if (from && to && to->second < from->second) std::swap(flow.first, flow.second);
        return flow;
    }

    const Clock::time_point origin_;
    Events events_;
    std::vector<std::string_view> devices_; // process p is devices_[p - 1], if there is one process
    std::uint64_t threads_ = 0, arrows_ = 0;
    // Of the process that is added now:
    std::vector<std::vector<Row>> rows_; // by track; spans of one row must not overlap
    std::vector<std::optional<std::pair<Place, Clock::time_point>>> shown_; // by SpanId
    std::vector<std::string> names_; // quoted once, because spans share them
};

namespace {

/// How well the clocks of the processes are known.
std::string other_data(std::span<const Trace::Process* const> processes) {
    std::string all;
    for (const Trace::Process* const process : processes) {
        nlohmann::ordered_json json{{"pid", process->number}, {"name", process->name}};
        const auto put = [&](const char* key, const std::optional<std::chrono::nanoseconds>& time) {
            if (time) json[key] = static_cast<double>(time->count()) / 1000;
        };
        put("clock_offset_us", process->clock_offset);
        put("clock_error_us", process->clock_error);
        all += all.empty() ? "\n" : ",\n";
        all += json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    return R"("otherData":{"processes":[)" + all + "\n]},";
}

} // namespace

std::string Trace::json() {
    const std::scoped_lock one(collecting_);
    collect();
    const std::scoped_lock lock(mutex_);
    const std::vector<Shown> all = shown();
    JsonWriter writer(begin_of(all));
    std::vector<const Process*> processes;
    for (const Shown& process : all) {
        writer.add(process);
        if (process.process != nullptr) processes.push_back(process.process);
    }
    return R"({"displayTimeUnit":"ns",)" + (processes.empty() ? std::string() : other_data(processes)) +
           R"("traceEvents":[)" + writer.take() + "\n]}\n";
}

} // namespace headrace
