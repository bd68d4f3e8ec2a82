// domains/streams/piece_times.hpp - what each piece takes on each device that has nothing else to do, and
// what links between devices carry. Private to domains/streams/.
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

/// By controllers' numbers; of those of one device the first is the one that is measured.
///
/// Lifetime  what it is given outlives it
/// Threads   one
class HEADRACE_EXPORT PieceTimes {
public:
    /// Submits a piece of an item whose input is there.
    using Submit = std::function<Event(std::size_t piece, std::size_t controller)>;

    /// `firsts`: a controller of each device.
    PieceTimes(const std::vector<Controller*>& controllers, const std::vector<std::size_t>& firsts,
               const std::vector<StreamPiece>& pieces);

    /// What is known. False: not of every device, not even that it is to be left out.
    [[nodiscard]] bool look_up(const PerformanceModel& model);
    /// Measures what is not known, and has `model` remember it: pieces, each three times on every device, and
    /// links. `again`: also what is known of few measurements, of such as disagree, or of long ago, so that
    /// none that went wrong is believed for ever; of who is known to be slow no longer than it takes to see
    /// that it still is. Left out, with the log saying why, is who has no room for the item or no means to
    /// compute it, and, as soon as that is plain, who takes more than twenty times as long as the fastest:
    /// `model` remembers that as the time of a job.
    ///
    /// Errors  what pieces fail with; if all devices are left out, what the last one lacks
    void measure(PerformanceModel& model, const Submit& submit, bool again);

    /// An item's pieces took it so long while a stream ran, all together.
    void took(PerformanceModel& model, std::size_t controller, double seconds) const;
    /// What they took so lately: since yesterday. Nothing if they have not been seen.
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
