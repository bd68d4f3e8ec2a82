// domains/streams/pipeline.hpp - a stream of items through pieces of work, on one or several devices, with
// host tasks at both ends.
//
//     Pipeline pipeline({&first, &second}, {{"blur", blur}, {"edges", edges}}, 4);
//     pipeline.map({{0, 0, 1}, {1, 1, 2}});                  // or find_mapping(model)
//     pipeline.run({.begin = read, .end = write});
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>
#include <headrace/core/stage_mapping.hpp>
#include <headrace/domains/streams/stream_report.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

class EstimatedTimes;
class EarliestEnd;
class FreeSlots;
class ItemSpans;
class PendingCallbacks;
class PartTimes;
class PieceTimes;

/// A piece of an item, to be submitted.
struct StreamStep {
    Controller& controller;
    std::size_t device; ///< number of the controller
    union {
        std::size_t slot; ///< of the item, below Pipeline::slots(); no other unfinished item has it
        [[deprecated("it is slot now")]] std::size_t place;
    };
    std::int64_t item;
    bool arrives; ///< the item was on another device before, or on none
};

/// One of the steps that every item goes through, in their order. Any device can run a piece; the coherence
/// core moves the data there.
struct StreamPiece {
    std::string name; ///< key of measurements: says what and how large it is
    /// Submits launches to the step's controller and returns the event of the last one. Tiles that pieces
    /// pass on belong to the item's slot. Tiles that only one piece uses may belong to the device.
    std::function<Event(const StreamStep&)> submit;
    Bytes bytes_in = 0; ///< input moved from the device of the previous piece, if that is another
};

/// The host's work for each item, in the order of items. Each function is called for one item at a time. Both
/// submit host tasks, or nothing.
struct StreamEnds {
    /// Returns the event of the item's arrival; nothing: there are no more items, and this is none. May wait
    /// for the item.
    std::function<std::optional<Event>(std::int64_t item, std::size_t slot)> begin;
    /// Returns the event that ends the item. Its `slot` is then free.
    std::function<Event(std::int64_t item, std::size_t slot)> end;
};

/// The pieces of one device, without times: the first three members of StagePart.
struct StreamCut {
    std::size_t device, begin, end;
};

/// Works on one item per slot (`slots`) at once, each with the requests of its pieces. Only the coherence
/// core moves data. With a set of tiles for every slot, devices, copies and host tasks overlap.
///
/// Threads   one
/// Lifetime  all arguments outlive the pipeline. `run` returns when all its items have ended
/// Errors    `run` throws the first failure; items before it end as usual
/// Source    S. Alonso Pascual, A. Gonzalez-Escribano, "Programming and mapping for mixed heterogeneous
///           devices: the case of optical flow", 2025. There the user chooses the cut points in advance
class HEADRACE_EXPORT Pipeline {
public:
    /// Errors: invalid_argument without controllers, pieces or slots.
    Pipeline(std::vector<Controller*> controllers, std::vector<StreamPiece> pieces, std::size_t slots);
    ~Pipeline();
    Pipeline(const Pipeline&) = delete; // callbacks of events hold its address
    Pipeline& operator=(const Pipeline&) = delete;

    [[nodiscard]] std::size_t slots() const noexcept { return slots_.size(); }
    [[deprecated("it is slots now"), nodiscard]] std::size_t places() const noexcept { return slots(); }
    [[nodiscard]] std::size_t pieces() const noexcept { return pieces_.size(); }

    /// Uses these parts for every item: all pieces, in their order. Default: the first device has all pieces.
    /// Errors: invalid_argument if a piece has no device, or a device has two parts or does not exist.
    void map(std::vector<StreamCut> cuts);
    /// Piece i runs on device i. There are at least as many controllers as pieces.
    void map_one_to_one();
    /// Each item goes whole to the controller that is expected to finish it first, from the times of earlier
    /// items there and when they were given. Any controller can then get any slot, one item after another; it
    /// gets one that it had before if possible.
    void give_whole_items();
    /// Finds the mapping. The first item of the next run measures the pieces on every device, each three
    /// times, and the links between devices, unless `model`, which outlives this, knows them. In streams of
    /// 300 items or more, values from few or old measurements are measured again. map_stages then finds the
    /// mapping for the items that `run` expects, also from the kept part times of streams of the last day.
    /// The measurement repeats pieces: all pieces in turn must compute the same result from the item's input
    /// each time. If parts take another time than predicted, the mapping is found again while a stream runs.
    /// A device that lost its part is then retried now and then. With several controllers of one device, the
    /// first one has its part. A device has no part if it cannot hold the item or takes 20 times as long as
    /// the fastest. The first run needs about the time of 40 items, or of one piece there twice, to detect
    /// this, and once more if it was less than 0.5 s too slow.
    void find_mapping(PerformanceModel& model);
    /// The same, but whole items are given if their predicted time is about as short (factor 0.8:
    /// measurements favour parts). This is usual, unless different devices suit different pieces.
    void find_division(PerformanceModel& model);

    /// For the report of a given mapping: looks up the times of pieces on every device in `model`.
    void compare_with(const PerformanceModel& model);
    /// Uses one thread for each controller to submit its work, and another one for the ends. For pieces
    /// of hundreds of requests: a device accepts about 100 and then blocks the caller, while other
    /// devices would have no work. `submit` of pieces on different controllers is then called
    /// concurrently.
    void submit_apart();
    [[deprecated("it is submit_apart now")]] void feed_apart() { submit_apart(); }
    /// The report then has the times of parts in a given mapping. Cost: a few callbacks an item.
    void time_parts() noexcept { times_parts_ = true; }

    /// Runs items until `ends` has no more, at most `most`. Returns their number. Blocks. The mapping is
    /// chosen for `most` items, so pass the number if it is known: a mapping for many items may not suit few.
    /// The default gives no expected number.
    std::int64_t run(const StreamEnds& ends, std::int64_t most = std::numeric_limits<std::int64_t>::max());

    /// The report of the last run.
    [[nodiscard]] StreamReport report() const;

private:
    struct EndOfAll;
    class Submitters; // threads that submit

    void take_items(const StreamEnds& ends);
    Event submit(const StreamEnds& ends, std::int64_t item, std::size_t slot, const Event& there,
                 const std::vector<StreamCut>& cuts);
    Event submit_part(const StreamCut& cut, std::int64_t item, std::size_t slot);
    [[nodiscard]] bool is_timed() const;
    [[nodiscard]] std::string text_of(std::size_t part, std::int64_t item) const;
    Event submit_piece(std::size_t piece, const StreamCut& cut, std::int64_t item, std::size_t slot);
    [[nodiscard]] StreamCosts costs(const std::vector<std::vector<double>>& piece_seconds) const;
    void divide(std::int64_t item, std::size_t slot);
    void expect_items();
    void choose_division(std::int64_t item);
    [[nodiscard]] std::optional<std::size_t> items_from(std::int64_t item) const;
    [[nodiscard]] StageMapping find_parts(std::int64_t item) const;
    [[nodiscard]] std::vector<double> items_per_second() const;
    [[nodiscard]] std::vector<StreamShareReport> shares() const;
    void use(const StageMapping& mapping, std::int64_t item);
    /// Time of the mapping by the current estimates, and whether the estimates have changed.
    struct Drift {
        StageMapping now;
        bool is_there = false;
    };
    Drift see_drift();
    void follow_drift(std::int64_t item);
    void remember_parts();

    const std::vector<Controller*> controllers_;
    std::vector<std::size_t> firsts_;    ///< controllers: the first one of each device
    std::vector<std::size_t> device_of_; ///< for each controller: the index in firsts_
    const std::vector<StreamPiece> pieces_;
    /// An item slot. If `done` is complete, the slot is free.
    struct Slot {
        Event done{};
        std::int64_t item = -1; ///< the last item in it
    };
    std::vector<Slot> slots_;
    std::vector<StreamCut> cuts_;
    bool whole_items_ = false, may_give_whole_items_ = false, times_parts_ = false;
    std::unique_ptr<FreeSlots> free_;
    std::unique_ptr<ItemSpans> spans_;      ///< null: no trace wants them
    std::unique_ptr<EarliestEnd> earliest_; ///< if whole items are given
    std::vector<std::int64_t> given_;       ///< number of whole items for each controller in the last run
    std::shared_ptr<PartTimes> times_;      ///< of the current parts; unfinished items may have others
    std::unique_ptr<PendingCallbacks> callbacks_; ///< of unfinished items; they report to the members above
    std::unique_ptr<Submitters> submitters_;
    PerformanceModel* model_ = nullptr;         ///< null: the mapping was given
    std::unique_ptr<PieceTimes> piece_times_;   ///< null: not known
    std::unique_ptr<EstimatedTimes> estimated_; ///< piece times, corrected by drift
    std::optional<StageMapping> mapping_;       ///< the one that was found
    std::int64_t mapped_at_ = 0;                ///< the first item with the current mapping
    std::int64_t items_ = 0;
    std::int64_t most_ = 0; ///< limit of items in the last run
    unsigned remapped_ = 0;
};

} // namespace headrace
