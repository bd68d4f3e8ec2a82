// domains/cluster/node.cpp - see node.hpp.
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/cluster/node.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <unistd.h>

namespace headrace::cluster {
namespace {

using namespace std::chrono_literals;

/// While jobs run, the thread looks so often for work that has ended here.
constexpr auto look_interval = 200us;
constexpr auto idle_interval = 100ms;

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "an unknown host";
    return name.data();
}

std::string program_name() { return program_invocation_short_name; }

std::shared_ptr<Node>& node_of_process() {
    static std::shared_ptr<Node> node;
    return node;
}
std::shared_ptr<Node>& node_of_thread() {
    thread_local std::shared_ptr<Node> node;
    return node;
}

} // namespace

Node::Node(const OpenTransport& open) {
    thread_ = std::jthread([this, open] { run(open); });
    try {
        {
            std::unique_lock lock(mutex_);
            wait(lock, [this] { return is_open_; });
        }
        meet();
    } catch (...) {
        leave();
        throw;
    }
}

Node::~Node() { HEADRACE_ASSERT(!thread_.joinable()); }

/// Learns where the ranks are, and checks that they can work together.
void Node::meet() {
    constexpr std::uint64_t byte_order = 0x0102030405060708;
    Writer mine;
    mine.put(byte_order).put(std::string(HEADRACE_VERSION)).put(program_name()).put(host_name());
    const std::vector<Message> all = exchange(mine.take());
    std::vector<std::string> hosts;
    std::string first;
    for (int rank = 0; rank < ranks_; ++rank) {
        Reader theirs(all[static_cast<std::size_t>(rank)]);
        if (theirs.get<std::uint64_t>() != byte_order)
            throw Error{ErrorKind::unsupported, fmt::format("rank {} has another byte order", rank)};
        if (const std::string version = theirs.text(); version != HEADRACE_VERSION)
            throw Error{ErrorKind::unsupported, fmt::format("rank {} has Headrace {}, and this rank has {}",
                                                            rank, version, HEADRACE_VERSION)};
        const std::string program = theirs.text();
        hosts.push_back(theirs.text());
        if (rank == 0) first = program;
        if (program != first)
            throw Error{ErrorKind::invalid_argument,
                        fmt::format("rank 0 on {} runs '{}' and rank {} on {} runs '{}': all ranks must run "
                                    "the same program",
                                    hosts[0], first, rank, hosts.back(), program)};
    }
    const std::scoped_lock lock(mutex_);
    hosts_ = std::move(hosts);
}

std::vector<Message> Node::exchange(Message mine) {
    std::unique_lock lock(mutex_);
    const std::uint64_t number = next_exchange_++;
    lock.unlock();
    post([this, number, mine = std::move(mine)]() mutable {
        if (rank() != 0) return send(0, Writer(Topic::report).put(number).put(mine).take());
        std::unique_lock posted_lock(mutex_);
        Collected& all = exchanges_[number];
        all.parts[0] = std::move(mine);
        finish_exchange(number, all);
    });
    lock.lock();
    std::optional<int> missing;
    wait(lock, [&] {
        const Collected& all = exchanges_[number];
        if (all.result) return true;
        if (rank() != 0) return has_first_ended();
        for (const auto& [one, why] : left_)
            if (!all.parts.contains(one)) missing = one;
        return missing.has_value();
    });
    if (!exchanges_[number].result) throw has_ended(missing.value_or(0));
    const Message result = std::move(*exchanges_.extract(number).mapped().result);
    lock.unlock();
    Reader reader(result);
    std::vector<Message> all;
    for (int one = 0; one < ranks_; ++one) {
        const auto bytes = reader.bytes();
        all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
}

/// On rank 0, with the lock: tells all ranks if all have come.
void Node::finish_exchange(std::uint64_t number, const Collected& all) {
    if (all.parts.size() < static_cast<std::size_t>(ranks_)) return;
    Writer parts;
    for (const auto& [from, part] : all.parts) parts.put(part);
    Message bytes = parts.take();
    forward_down(Writer(Topic::reports).put(number).put(bytes).take());
    exchanges_[number].result = std::move(bytes);
    changed_.notify_all();
}

std::uint64_t Node::next_job() {
    const std::scoped_lock lock(mutex_);
    return next_job_++;
}

void Node::begin(std::uint64_t job, std::shared_ptr<LocalWork> work, JobMark mark) {
    post([this, job, work = std::move(work), mark = std::move(mark)]() mutable {
        ErrorPtr failure;
        {
            const std::scoped_lock lock(mutex_);
            failure = failure_;
        }
        if (failure) return work->stop(failure);
        share_of(job).begin(std::move(work), std::move(mark));
    });
}

std::vector<Message> Node::collect(std::uint64_t key) {
    std::unique_lock lock(mutex_);
    std::optional<int> missing;
    const auto is_complete = [&] {
        const Collected& all = joins_[key];
        missing.reset();
        for (const auto& [rank, why] : left_)
            if (rank != 0 && !all.parts.contains(rank)) missing = rank;
        return missing || all.parts.size() + 1 == static_cast<std::size_t>(ranks_);
    };
    wait(lock, is_complete);
    Collected all = std::move(joins_.extract(key).mapped());
    if (missing) throw has_ended(*missing);
    std::vector<Message> parts(static_cast<std::size_t>(ranks_));
    for (auto& [from, part] : all.parts) parts[static_cast<std::size_t>(from)] = std::move(part);
    return parts;
}

void Node::publish(std::uint64_t key, Message result) {
    post([this, key, result = std::move(result)] {
        forward_down(Writer(Topic::result).put(key).put(result).take());
    });
}

Message Node::exchange_with_first(std::uint64_t key, Message part) {
    post([this, key, part = std::move(part)] { send(0, Writer(Topic::replicas).put(key).put(part).take()); });
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return has_first_ended() || (joins_.contains(key) && joins_[key].result); });
    if (!joins_.contains(key) || !joins_[key].result) throw has_ended(0);
    return std::move(*joins_.extract(key).mapped().result);
}

/// Rank 0 has ended, and so has the rank above, which had forwarded all that came from rank 0 before.
bool Node::has_first_ended() const { return left_.contains(0) && left_.contains(neighbours_.above); }

Error Node::has_ended(int rank) const {
    const std::string host = hosts_.empty() ? "" : " on " + hosts_[static_cast<std::size_t>(rank)];
    const auto left = left_.find(rank);
    if (left == left_.end() || !left->second)
        return Error(ErrorKind::device,
                     fmt::format("rank {}{} has ended, and its results are missing", rank, host));
    return Error(left->second->kind(),
                 fmt::format("rank {}{} has ended: {}", rank, host, left->second->what()));
}

template <class Ready>
void Node::wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    changed_.wait(lock, [&] { return failure_ || ready(); });
    expect_alive();
}

void Node::expect_alive() const {
    if (failure_) throw Error{*failure_};
}

void Node::post(std::function<void()> call) {
    const std::scoped_lock lock(mutex_);
    expect_alive();
    if (!transport_) throw Error{ErrorKind::cancelled, "the session of this rank has ended"};
    posted_.push_back(std::move(call));
    transport_->wake();
}

void Node::leave(ErrorPtr why) noexcept {
    {
        const std::scoped_lock lock(mutex_);
        if (why) last_failure_ = std::move(why);
        is_leaving_ = true;
        if (transport_) transport_->wake();
    }
    thread_.join();
}

bool Node::has_first_failed() const {
    const std::scoped_lock lock(mutex_);
    const auto first = left_.find(0);
    if (first != left_.end()) return first->second != nullptr;
    return lost_ && lost_ != 0; // all ranks get to know of a loss
}

// What follows is called by the thread.

void Node::run(const OpenTransport& open) {
    try {
        {
            auto transport = open();
            const std::scoped_lock lock(mutex_);
            transport_ = std::move(transport);
            ranks_ = transport_->ranks();
            const int rank = transport_->rank();
            neighbours_ = Neighbours::of(rank, ranks_, fmt::format("rank {} on {}", rank, host_name()));
            is_open_ = true;
            changed_.notify_all();
        }
        bool has_told = false; // that this rank leaves
        for (;;) {
            for (const auto& call : take_posted()) call();
            look_after_jobs(); // which tells the end of a job before that of this rank
            {
                const std::scoped_lock lock(mutex_);
                if (posted_.empty() && is_leaving_) {
                    if (!std::exchange(has_told, true)) {
                        const ErrorPtr& why = failure_ ? failure_ : last_failure_;
                        left_.emplace(rank(), why);
                        for (int other = 0; other < ranks_; ++other)
                            if (other != rank()) send(other, Writer(Topic::leaving).put(why).take());
                    }
                    if (left_.size() == static_cast<std::size_t>(ranks_) || failure_) break;
                }
            }
            // A burst of messages is taken before the next look.
            auto patience = std::chrono::nanoseconds(jobs_.empty() ? idle_interval : look_interval);
            for (int burst = 0; burst < 100; ++burst) {
                auto received = transport_->receive(patience);
                if (!received) break;
                receive(std::move(*received));
                patience = 0ns;
            }
        }
        can_send_ = false;
    } catch (...) {
        can_send_ = false;
        fail(current_error(ErrorKind::device));
    }
    for (const auto& call : take_posted()) call(); // jobs that began meanwhile get to know
    try {
        std::unique_lock lock(mutex_);
        auto transport = std::move(transport_);
        lock.unlock();
        transport.reset(); // by this thread, which made it
    } catch (...) {
        log_error("the ranks do not end in order: " + std::string(current_error()->what()));
    }
}

std::vector<std::function<void()>> Node::take_posted() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(posted_, {});
}

void Node::send(int to, Message message) {
    if (can_send_) transport_->send(to, std::move(message));
}

/// Made by the first message about the job, or when this rank submits it.
JobShare& Node::share_of(std::uint64_t job) {
    return jobs_
        .try_emplace(job, job, neighbours_, [this](int to, Message message) { send(to, std::move(message)); })
        .first->second;
}

void Node::forward_down(const Message& message) {
    for (const int rank : neighbours_.below) send(rank, message);
}

/// Rank 0 has ended, and gives no work any more. Jobs that it has closed still end here.
void Node::end_open_jobs() {
    ErrorPtr why;
    {
        const std::scoped_lock lock(mutex_);
        if (rank() == 0 || !has_first_ended()) return;
        why = std::make_shared<const Error>(has_ended(0));
    }
    for (auto& [number, share] : jobs_)
        if (!share.is_closed()) share.fail(why);
}

void Node::look_after_jobs() {
    if (has_news_of_end_) end_open_jobs();
    const auto now = JobShare::Clock::now();
    for (auto share = jobs_.begin(); share != jobs_.end();) {
        share->second.look(now);
        if (!share->second.is_over()) {
            ++share;
            continue;
        }
        if (share->second.failure()) {
            const std::scoped_lock lock(mutex_);
            if (!is_leaving_ || !last_failure_) last_failure_ = share->second.failure();
        }
        over_.insert(share->first);
        while (over_.erase(all_over_) > 0) ++all_over_;
        share = jobs_.erase(share);
    }
}

void Node::receive(Received received) {
    if (received.is_loss) {
        std::unique_lock lock(mutex_);
        if (left_.contains(received.from)) return; // it has said so
        if (!lost_) lost_ = received.from;
        const std::string host =
            hosts_.empty() ? "" : " on " + hosts_[static_cast<std::size_t>(received.from)];
        lock.unlock();
        return fail(std::make_shared<const Error>(ErrorKind::device,
                                                  fmt::format("rank {}{} is lost", received.from, host)));
    }
    Reader message(received.bytes);
    const auto topic = message.get<Topic>();
    switch (topic) {
    case Topic::report: {
        const auto number = message.get<std::uint64_t>();
        const auto part = message.bytes();
        const std::scoped_lock lock(mutex_);
        Collected& all = exchanges_[number];
        all.parts[received.from].assign(part.begin(), part.end());
        return finish_exchange(number, all);
    }
    case Topic::reports:
    case Topic::result: {
        forward_down(received.bytes);
        const auto key = message.get<std::uint64_t>();
        const auto result = message.bytes();
        const std::scoped_lock lock(mutex_);
        (topic == Topic::reports ? exchanges_ : joins_)[key].result.emplace(result.begin(), result.end());
        return changed_.notify_all();
    }
    case Topic::replicas: {
        const auto key = message.get<std::uint64_t>();
        const auto part = message.bytes();
        const std::scoped_lock lock(mutex_);
        joins_[key].parts[received.from].assign(part.begin(), part.end());
        return changed_.notify_all();
    }
    case Topic::leaving: {
        const std::scoped_lock lock(mutex_);
        left_.emplace(received.from, message.error());
        has_news_of_end_ = true;
        return changed_.notify_all();
    }
    default:
        receive_about_job(received.from, topic, message);
    }
}

void Node::receive_about_job(int from, Topic topic, Reader message) {
    const auto number = message.get<std::uint64_t>();
    if (number < all_over_ || over_.contains(number)) return; // it has failed here
    share_of(number).receive(from, topic, message, JobShare::Clock::now());
}

void Node::fail(const ErrorPtr& why) {
    {
        const std::scoped_lock lock(mutex_);
        if (!failure_) failure_ = why;
        changed_.notify_all();
    }
    for (auto& [number, share] : jobs_) share.fail(why);
    jobs_.clear();
}

std::shared_ptr<Node> Node::current() { return node_of_thread() ? node_of_thread() : node_of_process(); }
void Node::set_current(std::shared_ptr<Node> node) { node_of_process() = std::move(node); }
Node::OfThisThread::OfThisThread(std::shared_ptr<Node> node) { node_of_thread() = std::move(node); }
Node::OfThisThread::~OfThisThread() { node_of_thread().reset(); }

} // namespace headrace::cluster
