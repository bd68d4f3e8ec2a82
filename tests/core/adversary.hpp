// tests/core/adversary.hpp - decides which of the requests that could begin now does, in an order that no
// driver would choose but none excludes.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <vector>

namespace headrace::test {

/// Who runs requests asks for a turn before each. One turn is given at a time, so the order is the chosen
/// one.
///
/// Threads: any.
class Adversary {
public:
    enum class Order : std::uint8_t {
        random,
        newest_first,
        starve, ///< one who asks in three gets a turn only when nobody else wants it
    };

    Adversary(Order order, std::uint64_t seed) : order_(order), random_(seed), victim_(seed % 3) {}

    /// Names somebody who asks for turns: a stream, a host lane.
    [[nodiscard]] std::uint64_t join() {
        const std::scoped_lock lock(mutex_);
        return next_name_++;
    }
    /// Nobody gets a turn until `let_go`: whoever submits runs ahead as far as it can.
    void hold() {
        const std::scoped_lock lock(mutex_);
        held_ = true;
    }
    void let_go() {
        const std::scoped_lock lock(mutex_);
        held_ = false;
        choose();
    }

    /// Lasts while it lives.
    class Turn {
    public:
        Turn(Adversary& adversary, std::uint64_t name) : adversary_(adversary) {
            std::unique_lock lock(adversary.mutex_);
            const std::uint64_t number = adversary.next_number_++;
            adversary.waiting_.push_back({name, number});
            adversary.choose();
            adversary.chosen_.wait(lock, [&] { return adversary.turn_ == number; });
        }
        ~Turn() {
            const std::scoped_lock lock(adversary_.mutex_);
            adversary_.turn_ = nobody;
            adversary_.choose();
        }
        Turn(const Turn&) = delete; // ends once
        Turn& operator=(const Turn&) = delete;

    private:
        Adversary& adversary_;
    };

private:
    struct Waiting {
        std::uint64_t name, number;
    };
    static constexpr std::uint64_t nobody = ~std::uint64_t{0};

    /// With the mutex held.
    void choose() {
        if (held_ || turn_ != nobody || waiting_.empty()) return;
        std::size_t choice = random_() % waiting_.size();
        if (order_ == Order::newest_first) choice = waiting_.size() - 1;
        for (std::size_t tries = 0; order_ == Order::starve && tries < waiting_.size(); ++tries) {
            if (waiting_[choice].name % 3 != victim_) break;
            choice = (choice + 1) % waiting_.size();
        }
        turn_ = waiting_[choice].number;
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(choice));
        chosen_.notify_all();
    }

    const Order order_;
    std::mutex mutex_;
    std::condition_variable chosen_;
    std::mt19937_64 random_;
    const std::uint64_t victim_;
    std::vector<Waiting> waiting_; // oldest first
    std::uint64_t next_name_ = 0, next_number_ = 0, turn_ = nobody;
    bool held_ = false;
};

} // namespace headrace::test
