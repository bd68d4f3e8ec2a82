// domains/cluster/shared_items.cpp - see shared_items.hpp.
//
// A round is a join of all ranks: each sends its results to rank 0, which answers with the blocks of the
// round after the next. The blocks of the first two rounds follow from what each rank can do at once.
#include <headrace/domains/cluster/shared_items.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/item_rounds.hpp>
#include <headrace/internal/domains/cluster/message.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace headrace::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using Result = SharedItems::Result;

constexpr std::uint64_t rounds_ahead = 2; // whose blocks ranks know without an answer

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
        if (options.at_once == 0) throw Error{ErrorKind::invalid_argument, "SharedItems: no item at once"};
        if (node_) {
            number_ = node_->next_job();
            for (const Message& all : node_->exchange(Writer().put(options.at_once).take()))
                paces_.push_back({.at_once = Reader(all).get<std::uint64_t>()});
        } else {
            paces_.push_back({.at_once = options.at_once});
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
        HEADRACE_ASSERT(!is_in_block_);
        std::unique_lock lock(mutex_);
        wait(lock, [this] { return begun_ < blocks_.size() || is_planned_; });
        if (begun_ == blocks_.size()) return std::nullopt;
        block_ = blocks_[begun_++].of(rank());
        is_in_block_ = true;
        began_ = Clock::now();
        return block_;
    }

    void hand_over(std::vector<Result> results, ErrorPtr why) {
        HEADRACE_ASSERT(is_in_block_ && results.size() <= block_.size());
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
        wait(lock, [this] { return is_over_; });
        return *items_;
    }

    [[nodiscard]] std::vector<std::uint64_t> items_of_ranks() const {
        return rank() == 0 ? done_ : std::vector<std::uint64_t>();
    }

private:
    [[nodiscard]] int rank() const { return node_ ? node_->rank() : 0; }

    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
        // Rank 0 tells what an item of this rank's has failed of, when it has taken the items before.
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
            blocks_.push_back({begin, items_of_round(paces_, left)});
    }

    void run() {
        try {
            for (std::uint64_t round = 0;; ++round) {
                std::unique_lock lock(mutex_);
                if (is_planned_ && round == blocks_.size()) {
                    is_over_ = true;
                    break;
                }
                changed_.wait(lock, [this] { return is_stopped_ || !parts_.empty(); });
                if (parts_.empty()) return;
                Part mine = std::move(parts_.front());
                parts_.pop_front();
                lock.unlock();
                if (rank() == 0)
                    take_round(round, std::move(mine));
                else
                    send(round, mine);
                changed_.notify_all();
            }
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            failure_ = current_error();
        }
        changed_.notify_all();
    }

    // ---- other ranks

    void send(std::uint64_t round, const Part& mine) {
        const std::vector<Answer> answers = node_->exchange_with_first({number_, round}, mine.message());
        Reader answer(answers.front().bytes);
        const std::scoped_lock lock(mutex_);
        is_planned_ = answer.get<std::uint8_t>() != 0;
        if (is_planned_) {
            items_ = answer.get<std::uint64_t>();
            return;
        }
        Blocks& blocks = blocks_.emplace_back(Blocks{answer.get<std::uint64_t>()});
        for (std::size_t i = 0; i < paces_.size(); ++i) blocks.items.push_back(answer.get<std::uint64_t>());
    }

    // ---- rank 0

    void take_round(std::uint64_t round, Part mine) {
        std::vector<Part> parts;
        if (node_)
            for (const Message& part : node_->collect({number_, round}))
                parts.push_back(part.empty() ? Part{} : Part::of(part));
        else
            parts.emplace_back();
        parts.front() = std::move(mine);
        const auto failed = std::ranges::find_if(parts, [](const Part& part) { return part.why != nullptr; });
        Blocks blocks;
        {
            const std::scoped_lock lock(mutex_);
            blocks = blocks_[round];
            note(blocks, parts);
            plan_round();
        }
        if (node_ && failed == parts.end()) node_->publish({number_, round}, {{.bytes = answer(round)}});
        changed_.notify_all();
        for (std::size_t rank = 0; rank < parts.size(); ++rank) {
            std::uint64_t item = blocks.of(static_cast<int>(rank)).begin;
            for (const Result& result : parts[rank].results) take_(item++, result);
            if (parts[rank].why) throw Error{*parts[rank].why};
        }
    }

    /// How fast the ranks were, and whether the stream has ended. With the lock.
    void note(const Blocks& blocks, const std::vector<Part>& parts) {
        for (std::size_t rank = 0; rank < parts.size(); ++rank) {
            const IndexRange block = blocks.of(static_cast<int>(rank));
            const std::size_t results = parts[rank].results.size();
            done_[rank] += results;
            if (results > 0 && parts[rank].seconds > 0)
                paces_[rank].items_per_second = static_cast<double>(results) / parts[rank].seconds;
            if (results < block.size() && !(items_ && *items_ <= block.begin + results))
                items_ = block.begin + results;
        }
    }

    [[nodiscard]] Message answer(std::uint64_t round) {
        const std::scoped_lock lock(mutex_);
        Writer answer;
        answer.put<std::uint8_t>(is_planned_ ? 1 : 0);
        if (is_planned_) return answer.put(*items_).take();
        const Blocks& blocks = blocks_[round + rounds_ahead];
        answer.put(blocks.begin);
        for (const std::uint64_t items : blocks.items) answer.put(items);
        return answer.take();
    }

    const std::shared_ptr<Node> node_ = current_node(); ///< null: there is one process
    CallNumber number_;

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
    std::vector<Blocks> blocks_;         ///< of each round that is planned
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
