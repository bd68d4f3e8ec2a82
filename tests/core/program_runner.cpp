// tests/core/program_runner.cpp - see program_runner.hpp.
#include <headrace/core/log.hpp>

#include <core/fake_device.hpp>
#include <core/program_runner.hpp>
#include <core/serial_model.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

namespace headrace::test {

Device& ProgramMachine::add_device(std::unique_ptr<Device> device) {
    return *devices_.emplace_back(std::move(device));
}

void ProgramMachine::add_controller(Device& device, ControllerOptions options) {
    places_.push_back({&device, options});
    controllers_.push_back(std::make_unique<Controller>(device, options));
    topology_.in_place.push_back(controllers_.back()->is_zero_copy());
    topology_.reachable.assign(places_.size(), {});
    for (std::size_t to = 0; to < places_.size(); ++to)
        for (std::size_t from = 0; from < places_.size(); ++from)
            if (to != from && (places_[to].device == places_[from].device ||
                               places_[to].device->reaches(*places_[from].device)))
                topology_.reachable[to].insert(static_cast<ReplicaNumber>(from + 1));
}

void ProgramMachine::add_lanes(unsigned count) {
    for (unsigned i = 0; i < count; ++i) lanes_.emplace_back();
    topology_.lanes = count;
}

void ProgramMachine::renew_controller(unsigned i) {
    controllers_.at(i).reset();
    controllers_.at(i) = std::make_unique<Controller>(*places_.at(i).device, places_.at(i).options);
}

namespace {

/// A datum of a program on the machine.
struct RunDatum {
    std::unique_ptr<Storage> storage;
    std::vector<Word> borrowed;
};

struct Record {
    const Step* step;
    std::uint64_t number;
    Expected expected;
    std::optional<Event> event;
    bool refused = false, ran = false;
    std::uint64_t sum = 0;
};

class Run {
public:
    Run(const Program& program, ProgramMachine& machine, const RunOptions& options)
        : program_(program),
          machine_(machine),
          options_(options),
          word_bytes_(program.stride * sizeof(Word)),
          random_(options.seed),
          model_(program, machine.topology()),
          data_(program.data.size()),
          watched_(machine.topology().lanes + machine.topology().controllers()),
          synchronous_(machine.topology().controllers()) {
        for (unsigned datum = 0; datum < data_.size(); ++datum) renew(datum);
    }

    std::vector<std::string> all_of_it() {
        hold_sometimes();
        for (const Step& step : program_.steps) take(step);
        // What the host finds in the end is a step like all others.
        for (unsigned datum = 0; datum < data_.size(); ++datum)
            last_.push_back({What::gather, 0, {{datum, 0, program_.data[datum].words}}});
        for (const Step& step : last_) take(step);
        machine_.let_go();
        compare_requests();
        compare_data();
        compare_warnings();
        for (unsigned who = 0; options_.alone && who < watched_.size(); ++who) wait_all(who);
        for (unsigned c = 0; options_.alone && c < machine_.topology().controllers(); ++c)
            machine_.controller(c).set_asynchronous(true);
        return std::move(mistakes_);
    }

private:
    void complain(const Record& record, const std::string& what) {
        mistakes_.push_back("step " + std::to_string(record.number) + " (" +
                            describe(*record.step, program_, machine_.topology()) + "): " + what);
    }

    [[nodiscard]] std::string name_of(unsigned datum) const {
        return options_.prefix + "datum " + std::to_string(datum);
    }

    void renew(unsigned datum) {
        RunDatum& made = data_[datum];
        const DatumSpec& spec = program_.data[datum];
        const Bytes bytes = spec.words * word_bytes_;
        made.storage.reset(); // waits
        switch (spec.host) {
        case HostSide::owned:
            made.storage = std::make_unique<Storage>(name_of(datum), bytes);
            break;
        case HostSide::borrowed:
            made.borrowed.resize(bytes / sizeof(Word));
            for (unsigned i = 0; i < spec.words; ++i)
                made.borrowed[std::size_t{i} * program_.stride] = SerialModel::initial(datum, i);
            made.storage = std::make_unique<Storage>(name_of(datum), bytes, made.borrowed.data());
            break;
        case HostSide::from_device:
            made.storage = std::make_unique<Storage>(name_of(datum), bytes,
                                                     machine_.controller(0).device().allocate_host(bytes));
            break;
        case HostSide::internal:
            made.storage = std::make_unique<Storage>(name_of(datum), bytes, internal);
            break;
        }
    }

    [[nodiscard]] Tile tile(const Range& range) {
        return data_[range.datum].storage->tile(range.begin * word_bytes_, range.end * word_bytes_);
    }

    [[nodiscard]] std::vector<TileUse> uses(const Step& step) {
        std::vector<TileUse> uses;
        for (const Range& range : step.ranges) uses.push_back({tile(range), range.access});
        return uses;
    }

    void hold_sometimes() {
        if (options_.alone && random_() % 4 != 0) machine_.hold();
    }

    /// Its controller's submissions return when the request has ended.
    [[nodiscard]] bool is_synchronous(const Step& step) const {
        switch (step.what) {
        case What::kernel:
        case What::prefetch:
        case What::move_to:
        case What::move_from:
            return synchronous_[step.on];
        case What::host_task: {
            const unsigned lanes = machine_.topology().lanes;
            return step.on >= lanes && synchronous_[step.on - lanes];
        }
        default:
            return false;
        }
    }

    [[nodiscard]] bool blocks(const Step& step) const {
        constexpr std::array blocking{What::host_wrote, What::wait,        What::wait_all,
                                      What::release,    What::renew_datum, What::renew_controller};
        if (std::ranges::find(blocking, step.what) != blocking.end() || is_synchronous(step)) return true;
        // When a failed copy is noticed decides whether a later reader fetches anew: see settle().
        return step.fault != Fault::none && step.fault != Fault::body;
    }

    void take(const Step& step) {
        if (!options_.alone && (step.what == What::renew_controller || step.what == What::set_mode)) return;
        const bool is_blocking = blocks(step);
        if (is_blocking) machine_.let_go();
        const bool is_move = step.what == What::move_to || step.what == What::move_from;
        if (is_move && model_.is_poisoned(step.ranges.front())) {
            // Refused if it is known by now that a writer has failed; else taken, to fail later.
            machine_.let_go();
            settle(step);
        }
        const std::uint64_t number = records_.size();
        Record& record = records_.emplace_back(Record{&step, number, model_.run(step, number), {}});
        try {
            start(step, number, record);
        } catch (const Error&) {
            record.refused = true;
        }
        if (is_synchronous(step) && record.event && !record.event->done())
            complain(record, "was under way when submitting it had returned");
        if (is_blocking) {
            if (step.fault != Fault::none) settle(step);
            hold_sometimes();
        }
    }

    /// Waits until it is known what became of the tiles.
    void settle(const Step& step) {
        for (const Range& range : step.ranges) static_cast<void>(fails([&] { headrace::wait(tile(range)); }));
    }

    [[nodiscard]] static bool fails(const std::function<void()>& call) {
        try {
            call();
            return false;
        } catch (const Error&) {
            return true;
        }
    }

    void start(const Step& step, std::uint64_t number, Record& record) {
        std::optional<FailWhatIsEnqueued> fault;
        if (step.fault == Fault::copy_in) fault.emplace(FakeRequest::copy_in);
        if (step.fault == Fault::copy_out) fault.emplace(FakeRequest::copy_out);
        if (step.fault == Fault::copy_peer) fault.emplace(FakeRequest::copy_peer);
        const bool has_controller = step.what != What::host_task && step.what != What::wait_all;
        Controller* const controller = has_controller ? &machine_.controller(step.on) : nullptr;

        switch (step.what) {
        case What::kernel: {
            std::vector<ProgramMachine::Part> parts;
            for (const Range& range : step.ranges)
                parts.push_back({data_[range.datum].storage.get(), range.begin * word_bytes_,
                                 range.end * word_bytes_, range.access});
            record.event = with_room(step, [&] {
                return machine_.kernel(step.on, parts, uses(step), body(step, number, record));
            });
            watched(step.on).push_back(*record.event);
            return;
        }
        case What::host_task:
            return host_task(step, number, record);
        case What::prefetch:
            return on_tile(step, record, [&](const Tile& tile) {
                return watched(step.on).emplace_back(
                    with_room(step, [&] { return controller->prefetch(tile); }));
            });
        case What::move_to:
        case What::move_from:
            return on_tile(step, record, [&](const Tile& tile) {
                return watched(step.on).emplace_back(
                    step.what == What::move_to ? controller->move_to(tile) : controller->move_from(tile));
            });
        case What::gather:
            return on_tile(step, record, [](const Tile& tile) { return headrace::gather(tile); });
        case What::host_wrote: {
            settle(step);
            const Range& range = step.ranges.front();
            auto* words = static_cast<Word*>(data_[range.datum].storage->host());
            for (unsigned i = range.begin; !record.expected.refused && i < range.end; ++i)
                words[std::size_t{i} * program_.stride] = SerialModel::written_by_host(number, i);
            headrace::host_wrote(tile(range));
            return;
        }
        case What::wait: {
            const bool threw = fails([&] { headrace::wait(tile(step.ranges.front())); });
            if (threw != record.expected.fails) complain(record, threw ? "threw" : "threw nothing");
            return;
        }
        case What::wait_all:
            if (options_.alone) wait_all(step.on);
            return;
        case What::release:
            return controller->release(*data_[step.ranges.front().datum].storage);
        case What::renew_datum:
            return renew(step.ranges.front().datum);
        case What::renew_controller:
            machine_.renew_controller(step.on);
            watched(step.on).clear();
            synchronous_[step.on] = false;
            return;
        case What::set_mode:
            synchronous_[step.on] = !step.asynchronous;
            return controller->set_asynchronous(step.asynchronous);
        }
    }

    /// By datum: what lies between the ranges, too, where devices hold windows, else all of it.
    [[nodiscard]] std::vector<Tile> needed(const Step& step) {
        std::map<unsigned, Tile> parts;
        for (const Range& range : step.ranges) {
            Storage& storage = *data_[range.datum].storage;
            const Bytes begin = program_.windows ? range.begin * word_bytes_ : 0;
            const Bytes end = program_.windows ? range.end * word_bytes_ : storage.bytes();
            Tile& part = parts.try_emplace(range.datum, storage, begin, end).first->second;
            part = storage.tile(std::min(part.begin(), begin), std::max(part.end(), end));
        }
        std::vector<Tile> needed;
        for (const auto& [datum, part] : parts) needed.push_back(part);
        return needed;
    }

    /// Calls it again as long as its device is full and room can be made.
    Event with_room(const Step& step, const std::function<Event()>& request) {
        Controller& controller = machine_.controller(step.on);
        const std::vector<Tile> needed = this->needed(step);
        for (;;) {
            Event room;
            try {
                for (const Tile& part : needed) static_cast<void>(controller.window(part));
                return request();
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::out_of_memory) throw;
                room = controller.evict(error, needed);
            }
            machine_.let_go();
            room.wait();
        }
    }

    void host_task(const Step& step, std::uint64_t number, Record& record) {
        std::vector<Word*> words;
        for (const Range& range : step.ranges)
            words.push_back(static_cast<Word*>(data_[range.datum].storage->host()) +
                            std::size_t{range.begin} * program_.stride);
        const auto task = [this, words, run = body(step, number, record)] {
            machine_.host_task_begins();
            run(words);
        };
        if (const unsigned lanes = machine_.topology().lanes; step.on >= lanes) {
            record.event = machine_.controller(step.on - lanes).host_task(uses(step), task);
        } else {
            record.event = machine_.lane(step.on).run("host task", uses(step), task);
        }
        watched_[step.on].push_back(*record.event);
    }

    [[nodiscard]] ProgramMachine::Body body(const Step& step, std::uint64_t number, Record& record) {
        return [&step, number, &record, stride = program_.stride](const std::vector<Word*>& words) {
            record.ran = true;
            record.sum = compute(number, step.ranges, words, record.expected.defined, stride);
            if (step.fault == Fault::body) throw std::runtime_error("fails after it has written");
        };
    }

    void on_tile(const Step& step, Record& record, const std::function<Event(const Tile&)>& request) {
        record.event = Event{};
        record.refused = fails([&] { record.event = request(tile(step.ranges.front())); });
    }

    [[nodiscard]] std::vector<Event>& watched(unsigned controller) {
        return watched_[machine_.topology().lanes + controller];
    }

    /// Lanes first, then controllers.
    void wait_all(unsigned who) {
        bool expected = false;
        for (const Event& event : std::exchange(watched_[who], {})) expected |= event.outcome() != nullptr;
        const unsigned lanes = machine_.topology().lanes;
        const bool threw = fails([&] {
            if (who < lanes)
                machine_.lane(who).wait_all();
            else
                machine_.controller(who - lanes).wait_all();
        });
        if (threw != expected)
            mistakes_.push_back(
                "wait_all of " +
                (who < lanes ? "lane " + std::to_string(who) : "controller " + std::to_string(who - lanes)) +
                (expected ? " threw nothing" : " threw although nothing had failed"));
    }

    void compare_requests() {
        for (const Record& record : records_) {
            const bool failed = record.event && record.event->outcome() != nullptr;
            if (record.refused != record.expected.refused)
                complain(record, record.refused ? "was refused" : "was not refused");
            else if (record.step->what != What::wait && failed != record.expected.fails)
                complain(record, failed ? "failed: " + record.event->outcome()->message() : "did not fail");
            else if (record.ran != record.expected.runs)
                complain(record, record.ran ? "ran although it should not" : "did not run");
            else if (record.ran && !failed && record.sum != record.expected.sum)
                complain(record, "read other words than program order implies");
        }
    }

    void compare_data() {
        for (unsigned datum = 0; datum < data_.size(); ++datum) {
            if (program_.data[datum].host == HostSide::internal) continue;
            // For host tasks that only read.
            static_cast<void>(fails([&] { headrace::wait(data_[datum].storage->tile()); }));
            const auto* words = static_cast<const Word*>(data_[datum].storage->host());
            for (unsigned i = 0; i < program_.data[datum].words; ++i)
                if (model_.is_defined(datum, i) &&
                    words[std::size_t{i} * program_.stride] != model_.value(datum, i)) {
                    mistakes_.push_back("datum " + std::to_string(datum) + " is wrong at word " +
                                        std::to_string(i) + " in the end");
                    break;
                }
        }
    }

    void compare_warnings() {
        for (unsigned datum = 0; datum < data_.size(); ++datum)
            if (const unsigned times = WarnedNames::take(name_of(datum)); times != model_.warnings(datum))
                mistakes_.push_back("of datum " + std::to_string(datum) + " the log warned " +
                                    std::to_string(times) + " times, not " +
                                    std::to_string(model_.warnings(datum)));
    }

    const Program& program_;
    ProgramMachine& machine_;
    const RunOptions& options_;
    const Bytes word_bytes_; // of a word of the program
    std::mt19937_64 random_;
    SerialModel model_;
    std::vector<RunDatum> data_;
    std::deque<Record> records_; // bodies hold their addresses
    std::vector<Step> last_;
    std::vector<std::vector<Event>> watched_; // lanes, then controllers: what their next wait_all tells of
    std::vector<bool> synchronous_;
    std::vector<std::string> mistakes_;
};

std::mutex warned_mutex;
std::map<std::string, unsigned> warned; // by name; guarded by warned_mutex

} // namespace

std::vector<std::string> run_and_compare(const Program& program, ProgramMachine& machine,
                                         const RunOptions& options) {
    return Run(program, machine, options).all_of_it();
}

WarnedNames::WarnedNames() {
    set_log_sink([](LogLevel, std::string_view line) {
        const auto first = line.find('\''), last = line.rfind('\'');
        if (first == std::string_view::npos || last == first) return;
        const std::scoped_lock lock(warned_mutex);
        ++warned[std::string(line.substr(first + 1, last - first - 1))];
    });
}

WarnedNames::~WarnedNames() {
    set_log_sink({});
    warned.clear();
}

unsigned WarnedNames::take(const std::string& name) {
    const std::scoped_lock lock(warned_mutex);
    const auto found = warned.find(name);
    return found == warned.end() ? 0 : std::exchange(found->second, 0);
}

} // namespace headrace::test
