// domains/streams/piece_times.hpp - times of each piece on each device that does nothing else, and rates of
// the links between devices. Internal to domains/streams/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/streams/pipeline.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// Indexed by the numbers of controllers. Of a device's controllers, only the first one is measured.
///
/// Lifetime  all arguments outlive it
/// Threads   one
class HEADRACE_EXPORT PieceTimes {
public:
    /// Submits a piece of an item. The item's input is there.
    using Submit = std::function<Event(std::size_t piece, std::size_t controller)>;

    /// `firsts`: one controller of each device.
    PieceTimes(const std::vector<Controller*>& controllers, const std::vector<std::size_t>& firsts,
               const std::vector<StreamPiece>& pieces);

    /// Looks up what is known. False: for some device nothing is known, not even that it is left out.
    [[nodiscard]] bool look_up(const PerformanceModel& model);
    /// Measures what `model` does not know, and stores it there: links, and pieces on every device,
    /// three times each. `again`: also what is known from few, differing or old measurements, so that no
    /// wrong value stays for ever. A device known to be slow is measured only until that is confirmed. A
    /// device is left out, with a log line, if it has no room for the item, cannot compute it, or, once
    /// that is clear, takes more than 20 times as long as the fastest: `model` stores this as the time
    /// of a job.
    ///
    /// Errors  failures of pieces; if all devices are left out, the failure of the last one
    void measure(PerformanceModel& model, const Submit& submit, bool again);

    /// Stores the time of all pieces of an item together, measured while a stream ran.
    void took(PerformanceModel& model, std::size_t controller, double seconds) const;
    /// This time, if it was stored within the last day; else nothing.
    [[nodiscard]] std::optional<double> seconds_lately(const PerformanceModel& model,
                                                       std::size_t controller) const;

    /// [controller][piece]; infinity: left out.
    [[nodiscard]] const std::vector<std::vector<double>>& seconds() const noexcept { return seconds_; }
    [[nodiscard]] double seconds_of_item(std::size_t controller) const;
    [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return left_out_; }
    [[nodiscard]] double seconds_per_byte(std::size_t from, std::size_t to) const {
        return seconds_per_byte_[from][to];
    }

private:
    [[nodiscard]] std::vector<std::size_t> firsts_by_speed() const;
    enum class Known { no, hardly, well };
    [[nodiscard]] Known look_up(const PerformanceModel& model, std::size_t controller, double limit);
    [[nodiscard]] bool is_still_slow(std::size_t controller, const Submit& submit, double limit) const;
    void measure_pieces(PerformanceModel& model, std::size_t controller, const Submit& submit, double limit);
    void leave_out(std::size_t controller, std::string_view why);
    void measure_links(PerformanceModel& model, bool again);
    [[nodiscard]] double measure_link(std::size_t from, std::size_t to) const;
    [[nodiscard]] double time_link(std::size_t from, std::size_t to, Bytes bytes) const;
    [[nodiscard]] const DeviceInfo& info(std::size_t controller) const;
    [[nodiscard]] KernelKey key_of(std::size_t piece) const;
    [[nodiscard]] KernelKey key_of_item() const;
    [[nodiscard]] KernelKey key_of_item_in_stream() const;

    const std::vector<Controller*>& controllers_;
    const std::vector<std::size_t>& firsts_;
    const std::vector<StreamPiece>& pieces_;
    std::vector<LeftOut> left_out_;
    std::vector<std::vector<double>> seconds_;
    std::vector<std::vector<double>> seconds_per_byte_; ///< [from][to]
};

} // namespace headrace
