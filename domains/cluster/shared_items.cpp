// domains/cluster/shared_items.cpp - see shared_items.hpp.
//
// A round is a join of all ranks: each sends its results to rank 0, which answers with the blocks of the
// round after the next. The blocks of the first two rounds follow from what each rank can do at once. After
// the last round there is one more join, whose answer says that rank 0 has taken all. Where something has
// failed, the first join without an answer gets the error.
#include <headrace/domains/cluster/shared_items.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/item_rounds.hpp>
#include <headrace/internal/domains/cluster/message.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace headrace::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using Result = SharedItems::Result;

constexpr std::uint64_t rounds_ahead = 2; // whose blocks ranks know without an answer
constexpr std::size_t rounds_kept = 8;    // more than are under way
constexpr double growth_of_unused = 1.05; // of the assumed speed of a rank without items: it is tried again

/// The results of a rank in one round.
struct Part {
    std::vector<Result> results = {};
    ErrorPtr why = nullptr; ///< the item behind the last one has failed
    double seconds = 0;

    [[nodiscard]] Message message() const {
        Writer part;
        part.put(why).put(seconds).put<std::uint64_t>(results.size());
        for (const Result& result : results) part.put(std::span<const std::byte>(result));
        return part.take();
    }
    [[nodiscard]] static Part of(const Message& message) {
        Reader read(message);
        Part part{{}, read.error(), read.get<double>()};
        for (auto count = read.get<std::uint64_t>(); count > 0; --count) {
            const auto bytes = read.bytes();
            part.results.emplace_back(bytes.begin(), bytes.end());
        }
        return part;
    }
};

/// The blocks of one round.
struct Blocks {
    std::uint64_t begin = 0;
    std::vector<std::uint64_t> items = {}; ///< of each rank

    [[nodiscard]] IndexRange of(int rank) const {
        std::uint64_t at = begin;
        for (int i = 0; i < rank; ++i) at += items[static_cast<std::size_t>(i)];
        return {at, at + items[static_cast<std::size_t>(rank)]};
    }
    [[nodiscard]] std::uint64_t end() const {
        std::uint64_t at = begin;
        for (const std::uint64_t count : items) at += count;
        return at;
    }
};

} // namespace

class SharedItems::Rounds {
public:
    Rounds(const Options& options, Take take) : items_(options.items), take_(std::move(take)) {
        expect(options.at_once > 0 && options.at_once <= options.most, "at_once is 1 to `most`");
        if (node_) {
            number_ = node_->next_job();
            meet(options);
        } else {
            paces_.push_back({.at_once = options.at_once, .most = options.most});
        }
        done_.resize(paces_.size());
        for (std::uint64_t round = 0; round < rounds_ahead; ++round) plan_round();
        thread_ = std::jthread([this] { run(); });
    }
    ~Rounds() {
        {
            const std::scoped_lock lock(mutex_);
            is_stopped_ = true;
        }
        changed_.notify_all();
    }
    Rounds(const Rounds&) = delete;
    Rounds& operator=(const Rounds&) = delete;

    std::optional<IndexRange> next() {
        expect(!is_in_block_, "next() after next(): the results of the last block come first");
        std::unique_lock lock(mutex_);
        wait(lock, [this] { return begun_ < planned_ || is_planned_; });
        if (begun_ == planned_) return std::nullopt;
        block_ = blocks_of(begun_++).of(rank());
        is_in_block_ = true;
        began_ = Clock::now();
        return block_;
    }

    void hand_over(std::vector<Result> results, ErrorPtr why) {
        expect(is_in_block_, "hand_over() without a block");
        expect(results.size() <= block_.size(), "hand_over() of more results than the block has items");
        is_in_block_ = false;
        const std::chrono::duration<double> took = Clock::now() - began_;
        {
            const std::scoped_lock lock(mutex_);
            if (why) has_failed_ = true;
            parts_.push_back({std::move(results), std::move(why), took.count()});
        }
        changed_.notify_all();
    }

    std::uint64_t finish() {
        std::unique_lock lock(mutex_);
        expect(failure_ || has_failed_ || (is_planned_ && begun_ == planned_ && !is_in_block_),
               "finish() before next() has returned nothing");
        wait(lock, [this] { return is_over_; });
        return *items_;
    }

    [[nodiscard]] std::vector<std::uint64_t> items_of_ranks() const {
        return rank() == 0 ? done_ : std::vector<std::uint64_t>();
    }

private:
    static void expect(bool is_right, const char* what) {
        if (!is_right) throw Error{ErrorKind::invalid_argument, std::string("SharedItems: ") + what};
    }

    [[nodiscard]] int rank() const { return node_ ? node_->rank() : 0; }

    /// All ranks learn what each can do, and compare what they know of the stream.
    void meet(const Options& options) {
        const auto text = [](std::optional<std::uint64_t> items) {
            return items ? std::to_string(*items) : "an unknown number of";
        };
        Writer mine;
        mine.put(options.at_once).put(options.most).put<std::uint8_t>(items_ ? 1 : 0).put(items_.value_or(0));
        std::optional<std::uint64_t> of_first;
        for (const Message& message : node_->exchange(mine.take())) {
            Reader read(message);
            const auto at_once = read.get<std::uint64_t>(), most = read.get<std::uint64_t>();
            std::optional<std::uint64_t> items;
            if (read.get<std::uint8_t>() != 0) items = read.get<std::uint64_t>();
            if (paces_.empty()) of_first = items;
            if (items != of_first)
                throw Error{
                    ErrorKind::invalid_argument,
                    fmt::format("rank {} finds {} items, and rank 0 finds {}; all need the same input",
                                paces_.size(), text(items), text(of_first))};
            paces_.push_back({.at_once = at_once, .most = most});
        }
    }

    /// With the lock.
    [[nodiscard]] const Blocks& blocks_of(std::uint64_t round) const {
        return blocks_[round - (planned_ - blocks_.size())];
    }
    void add(Blocks blocks) {
        blocks_.push_back(std::move(blocks));
        ++planned_;
        if (blocks_.size() > rounds_kept) blocks_.pop_front();
    }

    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
        // Rank 0 answers what an item of this rank has failed of, when it has taken the items before.
        changed_.wait(lock, [&] { return failure_ || (!has_failed_ && ready()); });
        if (failure_) throw Error{*failure_};
    }

    /// Adds a round, unless there are no more items. With the lock, or before the thread begins.
    void plan_round() {
        const std::uint64_t begin = blocks_.empty() ? 0 : blocks_.back().end();
        std::optional<std::uint64_t> left;
        if (items_) left = *items_ - std::min(begin, *items_);
        if (left && *left == 0)
            is_planned_ = true;
        else
            add({begin, items_of_round(paces_, left)});
    }

    void run() {
        try {
            std::uint64_t round = 0;
            while (std::optional<Part> mine = next_part(round)) {
                const bool has_failed = mine->why != nullptr;
                if (rank() == 0)
                    take_round(round, std::move(*mine));
                else
                    send(round, *mine);
                if (has_failed) ends_before_failure();
                changed_.notify_all();
                ++round;
            }
        } catch (...) {
            const ErrorPtr failure = current_error();
            if (node_ && rank() == 0) answer_with(failure);
            const std::scoped_lock lock(mutex_);
            failure_ = failure;
        }
        changed_.notify_all();
    }

    /// Another rank has found the end before the item of this rank that has failed.
    void ends_before_failure() {
        const std::scoped_lock lock(mutex_);
        has_failed_ = false;
    }

    /// This rank's part of the round. Nothing: there are no more rounds, or this object ends early.
    std::optional<Part> next_part(std::uint64_t round) {
        std::unique_lock lock(mutex_);
        if (is_planned_ && round == planned_) {
            lock.unlock();
            end(round);
            lock.lock();
            is_over_ = true;
            return std::nullopt;
        }
        changed_.wait(lock, [this] { return is_stopped_ || !parts_.empty(); });
        if (parts_.empty()) return std::nullopt;
        Part mine = std::move(parts_.front());
        parts_.pop_front();
        return mine;
    }

    /// Waits for the other ranks, after the last round.
    void end(std::uint64_t round) {
        if (!node_) return;
        if (rank() != 0) return static_cast<void>(read(exchange(round, {})));
        static_cast<void>(node_->collect({number_, round}));
        answer(round, Writer().put(ErrorPtr{}).take());
    }

    // ---- other ranks

    Message exchange(std::uint64_t round, Message mine) {
        return std::move(node_->exchange_with_first({number_, round}, std::move(mine)).front().bytes);
    }

    /// Throws the error that an answer begins with.
    [[nodiscard]] static Reader read(const Message& answer) {
        Reader reader(answer);
        if (const ErrorPtr error = reader.error()) throw Error{*error};
        return reader;
    }

    void send(std::uint64_t round, const Part& mine) {
        const Message bytes = exchange(round, mine.message());
        Reader answer = read(bytes);
        const std::scoped_lock lock(mutex_);
        is_planned_ = answer.get<std::uint8_t>() != 0;
        if (is_planned_) {
            items_ = answer.get<std::uint64_t>();
            return;
        }
        Blocks blocks{answer.get<std::uint64_t>()};
        for (std::size_t i = 0; i < paces_.size(); ++i) blocks.items.push_back(answer.get<std::uint64_t>());
        add(std::move(blocks));
    }

    // ---- rank 0

    void take_round(std::uint64_t round, Part mine) {
        std::vector<Part> parts(1);
        if (node_) {
            parts.clear();
            for (Message& part : node_->collect({number_, round})) {
                parts.push_back(part.empty() ? Part{} : Part::of(part));
                part = {}; // they are large
            }
        }
        parts.front() = std::move(mine);
        Blocks blocks;
        std::uint64_t end = 0;
        {
            const std::scoped_lock lock(mutex_);
            blocks = blocks_of(round);
            note(blocks, parts);
            plan_round();
            end = items_.value_or(blocks.end());
        }
        ErrorPtr why; // of the item at the end
        for (std::size_t rank = 0; rank < parts.size(); ++rank)
            if (parts[rank].why &&
                blocks.of(static_cast<int>(rank)).begin + parts[rank].results.size() == end)
                why = parts[rank].why;
        if (node_ && !why) answer(round, next_blocks(round));
        changed_.notify_all();
        for (std::size_t rank = 0; rank < parts.size(); ++rank) {
            std::uint64_t item = blocks.of(static_cast<int>(rank)).begin;
            for (const Result& result : parts[rank].results)
                if (item < end) take_(item++, result);
        }
        if (why) throw Error{*why};
    }

    /// How fast the ranks were, and whether the stream has ended. With the lock.
    void note(const Blocks& blocks, const std::vector<Part>& parts) {
        for (std::size_t rank = 0; rank < parts.size(); ++rank) {
            const IndexRange block = blocks.of(static_cast<int>(rank));
            const std::size_t results = parts[rank].results.size();
            if (results > block.size())
                throw Error{ErrorKind::internal, "a rank has processed more items than its block has"};
            done_[rank] += results;
            double& speed = paces_[rank].items_per_second;
            if (block.empty())
                speed *= growth_of_unused;
            else if (results > 0 && parts[rank].seconds > 0)
                speed = static_cast<double>(results) / parts[rank].seconds;
            if (results < block.size() && !(items_ && *items_ <= block.begin + results))
                items_ = block.begin + results;
        }
    }

    [[nodiscard]] Message next_blocks(std::uint64_t round) {
        const std::scoped_lock lock(mutex_);
        Writer answer;
        answer.put(ErrorPtr{}).put<std::uint8_t>(is_planned_ ? 1 : 0);
        if (is_planned_) return answer.put(*items_).take();
        const Blocks& blocks = blocks_of(round + rounds_ahead);
        answer.put(blocks.begin);
        for (const std::uint64_t items : blocks.items) answer.put(items);
        return answer.take();
    }

    void answer(std::uint64_t round, Message bytes) {
        node_->publish({number_, round}, {{.bytes = std::move(bytes)}});
        answered_ = round + 1;
    }
    void answer_with(const ErrorPtr& error) noexcept {
        try {
            answer(answered_, Writer().put(error).take());
        } catch (...) { // the ranks work together no more, and know it
        }
    }

    const std::shared_ptr<Node> node_ = current_node(); ///< null: there is one process
    CallNumber number_;
    std::uint64_t answered_ = 0; ///< by rank 0: joins. Of the thread alone

    // Of the caller's thread:
    std::uint64_t begun_ = 0; ///< rounds
    bool is_in_block_ = false;
    IndexRange block_;
    Clock::time_point began_;

    std::mutex mutex_; ///< for all that follows
    std::condition_variable changed_;
    std::optional<std::uint64_t> items_; ///< nothing: the end is not known
    std::vector<ItemPace> paces_;        ///< of each rank
    std::vector<std::uint64_t> done_;    ///< on rank 0: items of each rank
    std::deque<Blocks> blocks_;          ///< of the last rounds that are planned
    std::uint64_t planned_ = 0;          ///< rounds
    bool is_planned_ = false;            ///< there are no more rounds
    bool has_failed_ = false;            ///< an item of this rank
    bool is_over_ = false, is_stopped_ = false;
    std::deque<Part> parts_; ///< of this rank, not on their way
    ErrorPtr failure_;
    const Take take_;
    std::jthread thread_; ///< last: it uses the rest
};

SharedItems::SharedItems(const Options& options, Take take)
    : rounds_(std::make_unique<Rounds>(options, std::move(take))) {}
SharedItems::~SharedItems() = default;
std::optional<IndexRange> SharedItems::next() { return rounds_->next(); }
void SharedItems::hand_over(std::vector<Result> results, ErrorPtr why) {
    rounds_->hand_over(std::move(results), std::move(why));
}
std::uint64_t SharedItems::finish() { return rounds_->finish(); }
std::vector<std::uint64_t> SharedItems::items_of_ranks() const { return rounds_->items_of_ranks(); }

} // namespace headrace::cluster
