// domains/streams/pipeline.hpp - a stream of items through pieces of work, on one device or on several, with
// the host's tasks at both ends.
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

class BelievedTimes;
class EarliestEnd;
class FreePlaces;
class ItemSpans;
class Listeners;
class PartTimes;
class PieceTimes;

/// A piece of an item that is to be submitted.
struct StreamStep {
    Controller& controller;
    std::size_t device; ///< the controller's number
    std::size_t place;  ///< the item's, below Pipeline::places(): nobody else who is under way has it
    std::int64_t item;
    bool arrives; ///< the item was on another device before, or on none
};

/// What every item goes through, one piece after another. A piece may be any device's, and what it works on
/// follows it there.
struct StreamPiece {
    std::string name; ///< measurements are kept under it: of what, how large
    /// Submits launches to the step's controller and returns the last one's event. Tiles that pieces hand on
    /// are the item's own (of its place); what a piece needs only for itself may be the device's.
    std::function<Event(const StreamStep&)> submit;
    Bytes bytes_in = 0; ///< that come along if the piece before is another device's
};

/// What the host does with each item, in their order, one call at a time of each. Both submit host tasks, or
/// nothing.
struct StreamEnds {
    /// Returns what says that the item is there; nothing: there are no more, and this is none. May wait for
    /// the item.
    std::function<std::optional<Event>(std::int64_t item, std::size_t place)> begin;
    /// Returns what the item has ended with: its place is free then.
    std::function<Event(std::int64_t item, std::size_t place)> end;
};

/// Which device does which pieces, without times: StagePart's first three.
struct StreamCut {
    std::size_t device, begin, end;
};

/// Has as many items under way as there are places, each in the requests of its pieces. Data moves by the
/// coherence core alone: with a set of tiles for every place, devices, copies and host tasks overlap.
///
/// Threads   one
/// Lifetime  what it is given outlives it. `run` returns when no item is under way any more
/// Errors    `run` throws the first failure; items before it have ended as they would have
/// Source    S. Alonso Pascual, A. Gonzalez-Escribano, "Programming and mapping for mixed heterogeneous
///           devices: the case of optical flow", 2025. There cut points are chosen beforehand and by hand
class HEADRACE_EXPORT Pipeline {
public:
    /// Errors: invalid_argument without controllers, pieces or places
    Pipeline(std::vector<Controller*> controllers, std::vector<StreamPiece> pieces, std::size_t places);
    ~Pipeline();
    Pipeline(const Pipeline&) = delete; // what has ended tells it so
    Pipeline& operator=(const Pipeline&) = delete;

    [[nodiscard]] std::size_t places() const noexcept { return places_.size(); }
    [[nodiscard]] std::size_t pieces() const noexcept { return pieces_.size(); }

    /// These parts, for every item; all pieces in their order. Until told otherwise the first device has all.
    /// Errors: invalid_argument if a piece is nobody's, or a device has two parts or is not there
    void map(std::vector<StreamCut> cuts);
    /// Piece i on device i, of which there are as many.
    void map_one_to_one();
    /// Whole items: each goes to the controller that should be done with it first, by what items have taken
    /// there so far, from when they were given. A place is any controller's then, one item after another, but
    /// one that it had before if there is one.
    void give_whole_items();
    /// Measures the pieces on every device with the first item of the next run, each three times, and what
    /// links between devices carry, unless `model`, which outlives this, knows; in streams of 300 items or
    /// more also what it knows of few measurements, or of long ago. Has map_stages find the mapping for as
    /// many items as `run` expects, by that and by what parts took in streams of the last day, which is kept,
    /// too. All pieces in turn make of the item's input what they make, whatever has been tried with the item
    /// before. While a stream runs, parts that take another time than they were to take have it found again;
    /// who lost its part so is tried again now and then. Of controllers of one device the first has its part.
    /// A device has none that cannot hold the item, or that takes twenty times as long as the fastest: to
    /// find that out, in the first run that there is, takes about as long as forty items, or as one piece
    /// there twice; and as long again where half a second less would have done.
    void find_mapping(PerformanceModel& model);
    /// The same, but whole items are given where all devices together promise to have done them about as soon
    /// (0.8: measurements flatter parts): as a rule, unless some pieces suit one device and others another.
    void find_division(PerformanceModel& model);

    /// For the report of a mapping that was given: what pieces take on every device, if `model` knows.
    void compare_with(const PerformanceModel& model);
    /// Has a thread for each controller submit what goes there, and another call the streams' ends. For
    /// pieces of hundreds of requests: a device takes a hundred or so and then has the caller wait, while
    /// others would have nothing to do. `submit` of pieces on different controllers is called at the same
    /// time then.
    void feed_apart();
    /// Has the report tell what parts take, where they were given: a few callbacks an item.
    void time_parts() noexcept { times_parts_ = true; }

    /// Items until `ends` has no more, `most` at the most; returns how many there were. Blocks. So many are
    /// expected: who knows the number says it, since a mapping for many items need not suit few. The largest
    /// number there is says nothing.
    std::int64_t run(const StreamEnds& ends, std::int64_t most = std::numeric_limits<std::int64_t>::max());

    /// Of the last run.
    [[nodiscard]] StreamReport report() const;

private:
    struct EndOfAll;
    class Feeding; // threads that submit

    void take_items(const StreamEnds& ends);
    Event submit(const StreamEnds& ends, std::int64_t item, std::size_t place, const Event& there,
                 const std::vector<StreamCut>& cuts);
    Event submit_part(const StreamCut& cut, std::int64_t item, std::size_t place);
    [[nodiscard]] bool is_timed() const;
    [[nodiscard]] std::string text_of(std::size_t part, std::int64_t item) const;
    Event submit_piece(std::size_t piece, const StreamCut& cut, std::int64_t item, std::size_t place);
    [[nodiscard]] StreamCosts costs(const std::vector<std::vector<double>>& piece_seconds) const;
    void divide(std::int64_t item, std::size_t place);
    void expect_items();
    void choose_division(std::int64_t item);
    [[nodiscard]] std::optional<std::size_t> items_from(std::int64_t item) const;
    [[nodiscard]] StageMapping find_parts(std::int64_t item) const;
    [[nodiscard]] std::vector<double> items_per_second() const;
    [[nodiscard]] std::vector<StreamShareReport> shares() const;
    void use(const StageMapping& mapping, std::int64_t item);
    /// What the mapping takes as it is believed to be now, and whether that has changed.
    struct Drift {
        StageMapping now;
        bool is_there = false;
    };
    Drift see_drift();
    void follow_drift(std::int64_t item);
    void remember_parts();

    const std::vector<Controller*> controllers_;
    std::vector<std::size_t> firsts_;    ///< controllers: the first one of each device
    std::vector<std::size_t> device_of_; ///< of each controller: the place in firsts_
    const std::vector<StreamPiece> pieces_;
    /// An item's: complete, nobody is there.
    struct Place {
        Event done{};
        std::int64_t item = -1; ///< the last one there
    };
    std::vector<Place> places_;
    std::vector<StreamCut> cuts_;
    bool whole_items_ = false, may_give_whole_items_ = false, times_parts_ = false;
    std::unique_ptr<FreePlaces> free_;
    std::unique_ptr<ItemSpans> spans_;      ///< null: nobody wants to see them
    std::unique_ptr<EarliestEnd> earliest_; ///< where whole items are given
    std::vector<std::int64_t> given_;       ///< of those, to each controller, in the last run
    std::shared_ptr<PartTimes> times_;      ///< of the parts as they are; items under way may have others
    std::unique_ptr<Listeners> listeners_;  ///< of items under way, who tell all these
    std::unique_ptr<Feeding> feeding_;
    PerformanceModel* model_ = nullptr;       ///< null: the mapping was given
    std::unique_ptr<PieceTimes> piece_times_; ///< null: not known
    std::unique_ptr<BelievedTimes> believed_; ///< the same, as far as drift has changed it
    std::optional<StageMapping> mapping_;     ///< that was found
    std::int64_t mapped_at_ = 0;              ///< the first item with the mapping as it is
    std::int64_t items_ = 0;
    std::int64_t most_ = 0; ///< items, of the last run
    unsigned remapped_ = 0;
};

} // namespace headrace
