// domains/streams/piece_times.cpp - see piece_times.hpp.
#include "streams/piece_times.hpp"
#include "streams/pending_callbacks.hpp"
#include <headrace/core/log.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double unable = std::numeric_limits<double>::infinity();
constexpr double hopeless = 20;       // times the fastest device's time: a help of 1/20 is not worth the wait
constexpr double slow = 3;            // times that time: a device known to be slower is measured only briefly
constexpr double lately = 24 * 3600;  // seconds: other users of a device do not stay for ever
constexpr double stall = 0.5;         // seconds by which a busy machine may delay any work
constexpr Bytes link_test = 64 << 20; // so long that the cost of a copy is proportional to its bytes
constexpr Bytes least_link_test = 4 << 10;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Runs pieces in their order until their time reaches `limit`. Each runs twice and the second run counts: at
/// first use a device may have to build its kernels. Returns the sum of the times.
double try_pieces(const PieceTimes::Submit& submit, std::size_t controller, std::size_t pieces,
                  double limit) {
    double seconds = 0;
    for (std::size_t piece = 0; piece < pieces && seconds < limit; ++piece) {
        submit(piece, controller).wait();
        const auto begin = Clock::now();
        submit(piece, controller).wait();
        seconds += seconds_since(begin);
    }
    return seconds;
}

/// Runs pieces without waits between them, as in a stream: a wait would add to the measured time. Returns the
/// time of the begin and the end of each.
std::vector<Clock::time_point> ends_of_pieces(const PieceTimes::Submit& submit, std::size_t controller,
                                              std::size_t pieces) {
    using Times = std::vector<Clock::time_point>;
    const auto times = std::make_shared<Times>(pieces + 1, Clock::now()); // callbacks may outlive a failure
    PendingCallbacks callbacks;
    std::vector<Event> events;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        events.push_back(submit(piece, controller));
        callbacks.add(events.back(), [times, piece](const ErrorPtr&) { (*times)[piece + 1] = Clock::now(); });
    }
    for (const Event& event : events) event.wait();
    callbacks.wait();
    return *times;
}

} // namespace

PieceTimes::PieceTimes(const std::vector<Controller*>& controllers, const std::vector<std::size_t>& firsts,
                       const std::vector<StreamPiece>& pieces)
    : controllers_(controllers),
      firsts_(firsts),
      pieces_(pieces),
      seconds_(controllers.size(), std::vector<double>(pieces.size())),
      seconds_per_byte_(controllers.size(), std::vector<double>(controllers.size())) {}

const DeviceInfo& PieceTimes::info(std::size_t controller) const {
    return controllers_[controller]->device().info();
}

KernelKey PieceTimes::key_of(std::size_t piece) const {
    return {.kernel = pieces_[piece].name, .work_units = 1, .bytes = 0};
}

/// Key for a device that is left out: its time is a lower bound.
KernelKey PieceTimes::key_of_item() const {
    return {.kernel = fmt::format("{} to {}", pieces_.front().name, pieces_.back().name),
            .work_units = 1,
            .bytes = 0};
}

KernelKey PieceTimes::key_of_item_in_stream() const {
    KernelKey key = key_of_item();
    key.kernel += ", in a stream";
    return key;
}

void PieceTimes::took(PerformanceModel& model, std::size_t controller, double seconds) const {
    model.took(std::array{&info(controller)}, key_of_item_in_stream(), seconds);
}

std::optional<double> PieceTimes::seconds_lately(const PerformanceModel& model,
                                                 std::size_t controller) const {
    const auto items = model.whole_jobs(std::array{&info(controller)}, key_of_item_in_stream());
    if (!items || items->jobs == 0 || items->seconds_ago > lately) return std::nullopt;
    return items->last;
}

double PieceTimes::seconds_of_item(std::size_t controller) const {
    return std::accumulate(seconds_[controller].begin(), seconds_[controller].end(), 0.0);
}

/// The fastest first, by theoretical peak.
std::vector<std::size_t> PieceTimes::firsts_by_speed() const {
    std::vector<std::size_t> firsts = firsts_;
    std::ranges::stable_sort(firsts, std::greater{},
                             [this](std::size_t first) { return info(first).peak_gflops; });
    return firsts;
}

bool PieceTimes::look_up(const PerformanceModel& model) {
    double fastest = unable;
    for (const std::size_t first : firsts_by_speed()) {
        if (look_up(model, first, hopeless * fastest) == Known::no) return false;
        fastest = std::min(fastest, seconds_of_item(first));
    }
    return fastest < unable;
}

/// Also finds out if the device takes more than `limit` seconds, unless that was measured long ago.
PieceTimes::Known PieceTimes::look_up(const PerformanceModel& model, std::size_t controller, double limit) {
    const auto items = model.whole_jobs(std::array{&info(controller)}, key_of_item());
    if (items && items->jobs > 0 && items->seconds >= limit) {
        leave_out(controller, fmt::format("an item took it more than {:.3g} s the last time", limit));
        return Known::well;
    }
    bool is_certain = true;
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
        const Estimate known = model.estimate(info(controller), key_of(piece));
        if (!known.units_per_second) return Known::no;
        seconds_[controller][piece] = 1 / *known.units_per_second;
        is_certain &= known.certain;
    }
    return is_certain ? Known::well : Known::hardly;
}

void PieceTimes::measure(PerformanceModel& model, const Submit& submit, bool again) {
    double fastest = unable;
    ErrorPtr lack; // of the last device that cannot run the item
    for (const std::size_t first : firsts_by_speed()) {
        const double limit = hopeless * fastest;
        try {
            const Known known = look_up(model, first, limit);
            if (known == Known::no ||
                (known == Known::hardly && again && !is_still_slow(first, submit, slow * fastest)))
                measure_pieces(model, first, submit, limit);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::out_of_memory && error.kind() != ErrorKind::unsupported) throw;
            lack = std::make_shared<const Error>(error);
            leave_out(first, error.what());
        }
        fastest = std::min(fastest, seconds_of_item(first));
    }
    if (fastest == unable && lack) throw Error{*lack};
    for (const LeftOut& device : left_out_)
        log_info(fmt::format("{} has no part of a stream: {}", device.id, device.why));
    measure_links(model, again);
}

/// Measures a device that was slow before, only until this is confirmed.
bool PieceTimes::is_still_slow(std::size_t controller, const Submit& submit, double limit) const {
    return seconds_of_item(controller) >= limit &&
           try_pieces(submit, controller, pieces_.size(), limit) >= limit;
}

void PieceTimes::measure_pieces(PerformanceModel& model, std::size_t controller, const Submit& submit,
                                double limit) {
    double seconds = try_pieces(submit, controller, pieces_.size(), limit);
    if (seconds >= limit && seconds < limit + stall)
        seconds = std::min(seconds, try_pieces(submit, controller, pieces_.size(), limit));
    if (seconds >= limit) {
        model.took(std::array{&info(controller)}, key_of_item(), seconds);
        return leave_out(controller, fmt::format("an item takes it more than {:.3g} s", limit));
    }
    const std::vector<Clock::time_point> ends = ends_of_pieces(submit, controller, pieces_.size());
    constexpr double least = 1e-6; // the resolution of the clock, in seconds
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
        const std::chrono::duration<double> passed = ends[piece + 1] - ends[piece];
        const double rate = 1 / std::max(passed.count(), least);
        model.measured(info(controller), key_of(piece), rate);
        // Includes earlier measurements, if they are kept.
        const Estimate known = model.estimate(info(controller), key_of(piece));
        seconds_[controller][piece] = 1 / known.units_per_second.value_or(rate);
    }
}

void PieceTimes::leave_out(std::size_t controller, std::string_view why) {
    left_out_.push_back({info(controller).id, info(controller).name, std::string(why)});
    std::ranges::fill(seconds_[controller], unable);
}

void PieceTimes::measure_links(PerformanceModel& model, bool again) {
    const auto takes_part = [this](std::size_t first) { return seconds_of_item(first) < unable; };
    for (const std::size_t from : firsts_)
        for (const std::size_t to : firsts_) {
            if (from == to || !takes_part(from) || !takes_part(to)) continue;
            const KernelKey key{
                .kernel = "link from " + info(from).name, .work_units = link_test, .bytes = link_test};
            Estimate known = model.estimate(info(to), key);
            if (!known.units_per_second || (again && !known.certain)) {
                const double bytes_per_second = measure_link(from, to);
                model.measured(info(to), key, bytes_per_second);
                known = model.estimate(info(to), key);
                if (!known.units_per_second) known.units_per_second = bytes_per_second;
            }
            seconds_per_byte_[from][to] = 1 / *known.units_per_second;
        }
}

/// Bytes a second. With fewer bytes if the device has no room.
double PieceTimes::measure_link(std::size_t from, std::size_t to) const {
    for (Bytes bytes = link_test;; bytes /= 4) try {
            return static_cast<double>(bytes) / time_link(from, to, bytes);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::out_of_memory || bytes <= least_link_test) throw;
        }
}

/// Seconds. The second run counts, as for pieces.
double PieceTimes::time_link(std::size_t from, std::size_t to, Bytes bytes) const {
    Storage storage("what links carry", bytes, internal);
    const auto bring_to = [&](std::size_t controller, Access access) {
        controllers_[controller]
            ->launch("link", std::array{TileUse{storage.tile(), access}}, [](const NativeStream&) {})
            .wait();
    };
    double seconds = 0;
    for (int time = 0; time < 2; ++time) {
        bring_to(from, Access::write);
        const auto begin = Clock::now();
        bring_to(to, Access::read);
        seconds = seconds_since(begin);
    }
    return seconds;
}

} // namespace headrace
