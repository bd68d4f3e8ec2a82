// tests/domains/cluster/made_up_cluster.hpp - the ranks of a cluster and one job that they share, in virtual
// time on one thread.
//
// Each rank has its JobShare, its MadeUpWork and one device that works at a given speed. Messages, ends of
// tasks and looks of ranks are events. A real rank looks every 200 us. A made-up rank looks after its events,
// and again, ever less often, as long as it has something that a later look could send.
#pragma once
#include <domains/cluster/made_up_work.hpp>
#include <headrace/internal/domains/cluster/job_share.hpp>
#include <headrace/internal/domains/cluster/stepped_network.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace::test {

/// What a cluster is like.
struct MadeUpOptions {
    using Time = cluster::SteppedNetwork::Time;

    int ranks = 1;
    std::uint64_t work_units = 0;
    double units_per_second = 1e6; ///< of a rank that is no straggler
    double stragglers = 0;         ///< share of ranks that are ten times slower
    MadeUpTree tree = {};
    Time launch_time = std::chrono::milliseconds(5); ///< of units that spawn: then the device pauses
    std::uint64_t seed = 1;
    Time least_delay{0}, most_delay{0}; ///< of a message
    Time latest_begin{0};               ///< ranks submit the job at random times until then
    Time latest_start{0};               ///< and it runs so much later at most
    // What the rank's communication costs.
    Time message_cost{0};  ///< to receive a message
    Time look_cost{0};     ///< of a rank with ranks below
    Time look_interval{0}; ///< an end of a task is seen at the next look
};

class MadeUpCluster {
public:
    using Time = MadeUpOptions::Time;
    using Clock = cluster::LocalWork::Clock;
    static constexpr cluster::CallNumber the_job{.ordinal = 7}; ///< that all ranks share

    struct Rank {
        cluster::Neighbours neighbours;
        std::shared_ptr<MadeUpWork> work;
        std::unique_ptr<cluster::JobShare> share;
        cluster::JobMark mark;
        double units_per_second = 0;
        bool is_busy = false; ///< the device
        std::deque<cluster::Received> inbox;
        std::vector<std::pair<int, cluster::Message>> outbox;
        Time busy_until{};             ///< the communication
        Time look_at = never;          ///< the next look that is due
        std::uint64_t looks = 0;       ///< how many
        std::uint64_t handled = 0;     ///< messages received
        std::uint64_t sent = 0;        ///< messages
        std::uint64_t told = 0;        ///< credit
        std::set<int> unserved = {};   ///< ranks below that want work
        std::uint64_t tasks = 0;       ///< of the device
        Time patience{}, working{};    ///< until the next look without an event; of the device
        Time first_task{}, last_end{}; ///< of the device: when the first task began, the last one ended
        Time last_task{};              ///< how long it took
        Time over_at{};                ///< the job is over here
        Time communicating{};
    };

    explicit MadeUpCluster(const MadeUpOptions& options)
        : options_(options),
          random_(options.seed),
          network_(
              options.ranks,
              {.seed = options.seed, .least_delay = options.least_delay, .most_delay = options.most_delay}),
          ranks_(static_cast<std::size_t>(options.ranks)) {
        const std::vector<int> sizes = subtree_sizes(options.ranks);
        const auto now = [this] { return this->now(); };
        for (int number = 0; number < options.ranks; ++number) {
            Rank& one = rank(number);
            one.neighbours = cluster::Neighbours::of(number, options.ranks, "rank " + std::to_string(number));
            one.work =
                std::make_shared<MadeUpWork>(one.neighbours, sizes, options.work_units, now, options.tree);
            one.mark = {"made up", options.work_units};
            one.share = std::make_unique<cluster::JobShare>(
                the_job, one.neighbours, [&one](int to, cluster::Message message) {
                    one.outbox.emplace_back(to, std::move(message));
                });
            one.units_per_second = options.units_per_second;
        }
        // As many as their share, at random places.
        std::vector<std::size_t> order(ranks_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::shuffle(order, random_);
        order.resize(static_cast<std::size_t>(options.stragglers * options.ranks));
        for (const std::size_t one : order) ranks_[one].units_per_second /= 10;
    }
    MadeUpCluster(const MadeUpCluster&) = delete; // its parts hold its address
    MadeUpCluster& operator=(const MadeUpCluster&) = delete;

    [[nodiscard]] Rank& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }
    [[nodiscard]] const std::vector<Rank>& ranks() const { return ranks_; }
    [[nodiscard]] Time time() const { return network_.now(); }
    /// Of units that moved between ranks.
    [[nodiscard]] std::uint64_t batches() const { return batches_; }
    [[nodiscard]] const cluster::Traffic& traffic() const { return network_.traffic(); }
    [[nodiscard]] double units_per_second() const {
        double sum = 0;
        for (const Rank& one : ranks_) sum += one.units_per_second;
        return sum;
    }

    /// At that time the rank submits the job, which runs later. Without a call: at a random time.
    void begin(int number, Time at, Time start) {
        this->at(at, [this, number] {
            Rank& one = rank(number);
            one.share->begin(one.work, one.mark);
            look(one);
        });
        this->at(start, [this, number] {
            rank(number).work->start();
            look(rank(number));
        });
        begins_.push_back(number);
    }
    /// The rank's own work fails.
    void fail(int number, Time at, ErrorPtr why) {
        this->at(at, [this, number, why = std::move(why)] {
            rank(number).work->stop(why);
            look(rank(number));
        });
    }
    /// Called for each task that a device has completed.
    std::function<void(int rank, IndexRange units)> on_done;
    /// Called for each unit that a device has completed, if units spawn others.
    std::function<void(int rank, const MadeUpUnit& unit)> on_unit;
    /// Called before a rank receives messages, after that and before it looks, and after that.
    enum class Stage : std::uint8_t { receives, looks, ends };
    std::function<void(const Rank& rank, Stage stage, std::size_t messages)> on_handling;

    /// Until nothing happens any more, or so many events have.
    void run(std::uint64_t most_events = ~std::uint64_t{0}) {
        std::ranges::sort(begins_);
        for (int number = 0; number < options_.ranks; ++number) {
            if (std::ranges::binary_search(begins_, number)) continue;
            const Time begin = up_to(options_.latest_begin);
            this->begin(number, begin, begin + up_to(options_.latest_start));
        }
        for (std::uint64_t events = 0; events < most_events; ++events) {
            const auto delivery = network_.next();
            if (!delivery && events_.empty()) return;
            if (delivery && (events_.empty() || *delivery <= events_.top().at)) {
                auto [to, received] = *network_.step();
                rank(to).inbox.push_back(std::move(received));
                handle_soon(rank(to));
            } else {
                Event event = std::move(const_cast<Event&>(events_.top()));
                events_.pop();
                network_.advance(event.at);
                event.call();
            }
        }
    }

private:
    static constexpr Time never = Time::max();
    static constexpr Time shortest_patience = std::chrono::microseconds(200),
                          longest_patience = std::chrono::milliseconds(5);

    struct Event {
        Time at;
        std::uint64_t number;
        std::function<void()> call;
        friend bool operator<(const Event& one, const Event& other) { // the earliest is the greatest
            return std::tie(one.at, one.number) > std::tie(other.at, other.number);
        }
    };

    /// An hour after the clock's beginning, as on a machine that runs for long.
    [[nodiscard]] Clock::time_point now() const {
        return Clock::time_point(std::chrono::hours(1)) + network_.now();
    }
    [[nodiscard]] Time up_to(Time most) {
        return Time(std::uniform_int_distribution<Time::rep>(0, most.count())(random_));
    }
    void at(Time time, std::function<void()> call) {
        events_.push({std::max(time, network_.now()), numbers_++, std::move(call)});
    }

    /// The communication takes all messages that are there when it has time.
    void handle_soon(Rank& one) {
        if (one.busy_until <= time()) return handle(one);
        if (one.inbox.size() == 1) at(one.busy_until, [this, &one] { handle(one); });
    }
    void handle(Rank& one) {
        if (one.share->is_over()) return one.inbox.clear();
        if (one.busy_until > time()) return at(one.busy_until, [this, &one] { handle(one); });
        const std::size_t messages = one.inbox.size();
        if (on_handling) on_handling(one, Stage::receives, messages);
        for (const cluster::Received& received : std::exchange(one.inbox, {})) {
            cluster::Reader message(received.bytes);
            const auto topic = message.get<cluster::Topic>();
            if (message.get<cluster::CallNumber>() != the_job) continue; // there is one job
            if (topic == cluster::Topic::want && received.from > one.neighbours.rank)
                one.unserved.insert(received.from);
            one.share->receive(received.from, topic, message, now());
        }
        if (on_handling) on_handling(one, Stage::looks, messages);
        one.share->look(now());
        if (on_handling) on_handling(one, Stage::ends, messages);
        one.handled += messages;
        ++one.looks;
        const Time cost = options_.message_cost * static_cast<Time::rep>(messages) +
                          (one.neighbours.below.empty() ? Time{} : options_.look_cost);
        one.busy_until = time() + cost;
        one.communicating += cost;
        if (cost == Time{})
            send(one);
        else if (!one.outbox.empty())
            at(one.busy_until, [this, &one] { send(one); });
        if (one.share->is_over()) one.over_at = time();
        if (messages > 0) one.patience = {};
        run_device(one);
        look_again(one);
    }
    void look(Rank& one) { handle(one); }

    void send(Rank& one) {
        for (auto& [to, message] : std::exchange(one.outbox, {})) {
            cluster::Reader reader(message);
            const auto topic = reader.get<cluster::Topic>();
            static_cast<void>(reader.get<cluster::CallNumber>());
            if (topic == cluster::Topic::credit) one.told = reader.get<std::uint64_t>();
            if (topic == cluster::Topic::grant || topic == cluster::Topic::batch) one.unserved.erase(to);
            if (topic == cluster::Topic::batch) ++batches_;
            ++one.sent;
            network_.send(one.neighbours.rank, to, std::move(message));
        }
    }

    void run_device(Rank& one) {
        if (one.is_busy) return;
        const auto task = one.work->take();
        if (!task) return;
        one.is_busy = true;
        if (++one.tasks == 1) one.first_task = time();
        if (one.work->spawns()) {
            one.work->load(*task);
            return launch(one, *task, Time{});
        }
        const Time busy = std::chrono::duration_cast<Time>(
            std::chrono::duration<double>(static_cast<double>(task->range.size()) / one.units_per_second));
        at(time() + std::max(busy, Time(1)), [this, &one, task = *task, busy] {
            one.is_busy = false;
            one.working += busy;
            one.last_end = time();
            one.last_task = busy;
            if (one.work->done(task, busy) && on_done) on_done(one.neighbours.rank, task.range);
            one.patience = {};
            run_device(one);
            if (options_.look_interval == Time{})
                look(one);
            else
                look_at(one, (time() / options_.look_interval + 1) * options_.look_interval);
        });
    }

    /// The device works on units that spawn others until it pauses.
    void launch(Rank& one, const WorkRange& task, Time busy_before) {
        const double each = 1 / one.units_per_second;
        const auto most = static_cast<std::uint64_t>(
            std::chrono::duration<double>(options_.launch_time).count() * one.units_per_second);
        // Children are not known yet: the launch ends early if all is done.
        std::uint64_t units = 0;
        one.work->run(std::max<std::uint64_t>(most, 1), [&](const MadeUpUnit& unit) {
            ++units;
            if (on_unit) on_unit(one.neighbours.rank, unit);
        });
        const auto took = std::chrono::duration_cast<Time>(
            std::chrono::duration<double>(each * static_cast<double>(units)));
        at(time() + std::max(took, Time(1)), [this, &one, task, busy = busy_before + took, took] {
            one.working += took;
            one.last_end = time();
            one.patience = {};
            one.work->pause();
            if (one.work->left() > 0) {
                launch(one, task, busy);
            } else {
                one.is_busy = false;
                one.work->done(task, busy);
                run_device(one);
            }
            look(one);
        });
    }

    /// What a look now has not sent, a later one may.
    void look_again(Rank& one) {
        if (one.share->is_over()) return;
        if (one.work->spawns() && one.work->supply().is_running) { // as a real rank does
            one.patience = std::clamp(one.patience * 2, shortest_patience, longest_patience);
            return look_at(one, time() + one.patience);
        }
        const auto supply = one.work->supply();
        if (supply.has_ended) return look_at(one, time() + shortest_patience);
        if (!supply.is_running) return;
        const bool has_credit = one.neighbours.above >= 0 && supply.completed > one.told;
        const bool has_refused = supply.open > 0 && (!one.unserved.empty() || !one.is_busy);
        if (!has_credit && !has_refused) return;
        if (!has_refused) one.patience = longest_patience;
        one.patience = std::clamp(one.patience * 2, shortest_patience, longest_patience);
        look_at(one, time() + one.patience);
    }
    void look_at(Rank& one, Time when) {
        if (one.look_at <= when && one.look_at > time()) return;
        one.look_at = when;
        at(when, [this, &one, when] {
            if (one.look_at == when) look(one);
        });
    }

    MadeUpOptions options_;
    std::mt19937_64 random_;
    cluster::SteppedNetwork network_;
    std::vector<Rank> ranks_;
    std::priority_queue<Event> events_;
    std::vector<int> begins_;
    std::uint64_t numbers_ = 0, batches_ = 0;
};

} // namespace headrace::test
