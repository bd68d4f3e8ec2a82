// domains/cluster/node.cpp - see node.hpp.
#include "cluster/meeting.hpp"
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/cluster/node.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace headrace::cluster {
namespace {

using namespace std::chrono_literals;

/// While jobs run, the thread looks so often for work that has ended here.
constexpr auto look_interval = 200us;
constexpr auto idle_interval = 100ms;

/// Why this rank, or what it does with others, cannot go on as before.
ErrorPtr loss_known_to(const Membership& membership, int rank, const std::vector<std::string>& hosts) {
    const std::chrono::duration<double> patience = membership.patience();
    std::string what =
        name_of_rank(membership.is_member(0) ? membership.lost().back() : 0, hosts) + " is lost";
    if (!membership.is_member(rank))
        what = fmt::format("the other ranks go on without {}: they have heard nothing of it for {} s",
                           name_of_rank(rank, hosts), patience.count());
    return std::make_shared<const Error>(ErrorKind::device, what);
}

Message result_of(JoinNumber join, int of, std::uint64_t results, const Message& bytes) {
    return Writer(Topic::result).put(join).put(of).put(results).put(bytes).take();
}

Message without_bytes(const Message& result) {
    Reader message(result);
    static_cast<void>(message.get<Topic>());
    const auto join = message.get<JoinNumber>();
    const auto of = message.get<int>();
    return result_of(join, of, message.get<std::uint64_t>(), {});
}

std::vector<Message> messages_in(const Message& bytes, int count) {
    Reader reader(bytes);
    std::vector<Message> all;
    for (int one = 0; one < count; ++one) {
        const auto message = reader.bytes();
        all.emplace_back(message.begin(), message.end());
    }
    return all;
}

} // namespace

Node::Node(const OpenTransport& open) {
    thread_ = std::jthread([this, open] { run(open); });
    try {
        {
            std::unique_lock lock(mutex_);
            wait(lock, [this] { return is_open_; });
        }
        std::vector<std::string> hosts = meet_ranks(*this);
        const std::scoped_lock lock(mutex_);
        hosts_ = std::move(hosts);
        submitters_.forget_thread(); // another one may submit all jobs
    } catch (...) {
        leave();
        throw;
    }
}

Node::~Node() { HEADRACE_ASSERT(!thread_.joinable()); }

std::vector<Message> Node::exchange(Message mine) {
    std::unique_lock lock(mutex_);
    expect_alive(); // before `recover`, no number of the next generation may be taken
    const CallNumber number = submitters_.next(Submitters::Call::exchange);
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
    const auto has_result = [&] {
        const auto found = exchanges_.find(number);
        return found != exchanges_.end() && found->second.result;
    };
    const auto is_ready = [&] {
        if (has_result() || number.generation != generation_) return true;
        const Collected& all = exchanges_[number];
        if (rank() != 0) return has_first_ended();
        missing = ended_.without_part(membership_->members(), all.parts);
        return missing.has_value();
    };
    changed_.wait(lock, [&] { return failure_ || must_recover_ || is_ready(); });
    if (!has_result()) { // else it counts, whatever has come since: other ranks have it too
        expect_alive();
        expect_current(number.generation);
        throw ended_.error_of(missing.value_or(0), hosts_);
    }
    const Message result = std::move(*exchanges_.extract(number).mapped().result);
    return messages_in(result, ranks_);
}

/// On rank 0, with the lock: tells all ranks if all have come.
void Node::finish_exchange(CallNumber number, const Collected& all) {
    if (all.parts.size() < membership_->members().size()) return;
    Writer parts;
    for (int from = 0; from < ranks_; ++from) {
        const auto part = all.parts.find(from);
        parts.put(part == all.parts.end() ? Message() : part->second);
    }
    Message bytes = parts.take();
    forward_down(Writer(Topic::reports).put(number).put(bytes).take());
    exchanges_[number].result = std::move(bytes);
    changed_.notify_all();
}

CallNumber Node::next_job() {
    const std::scoped_lock lock(mutex_);
    expect_alive();
    return submitters_.next(Submitters::Call::job);
}

void Node::begin(CallNumber job, std::shared_ptr<LocalWork> work, JobMark mark) {
    post([this, job, work = std::move(work), mark = std::move(mark)]() mutable {
        ErrorPtr failure;
        {
            const std::scoped_lock lock(mutex_);
            failure = job.generation == generation_ ? failure_ : last_loss_;
        }
        if (failure) return work->stop(failure);
        jobs_->begin(job, std::move(work), std::move(mark));
    });
}

std::vector<Message> Node::collect(JoinNumber join) {
    std::unique_lock lock(mutex_);
    std::optional<int> missing;
    const auto is_complete = [&] {
        if (join.job.generation != generation_) return true;
        const Collected& all = joins_[join];
        missing = ended_.without_part(std::span(membership_->members()).subspan(1), all.parts);
        return missing || all.parts.size() + 1 == membership_->members().size();
    };
    wait(lock, is_complete);
    expect_current(join.job.generation);
    Collected all = std::move(joins_.extract(join).mapped());
    if (missing) throw ended_.error_of(*missing, hosts_);
    std::vector<Message> parts(static_cast<std::size_t>(ranks_));
    for (auto& [from, part] : all.parts) parts[static_cast<std::size_t>(from)] = std::move(part);
    return parts;
}

void Node::publish(JoinNumber join, std::vector<Answer> answers) {
    post([this, join, answers = std::move(answers)] { // of an earlier generation: all drop it
        for (const Answer& answer : answers)
            forward_down(result_of(join, answer.of, answers.size(), answer.bytes), answer.of);
    });
}

std::vector<Answer> Node::exchange_with_first(JoinNumber join, Message part) {
    post([this, join, part = std::move(part)] {
        send(0, Writer(Topic::replicas).put(join).put(part).take());
    });
    std::unique_lock lock(mutex_);
    const auto is_complete = [&] { return joins_[join].has_all_answers(); };
    wait(lock, [&] { return join.job.generation != generation_ || has_first_ended() || is_complete(); });
    expect_current(join.job.generation);
    if (!is_complete()) throw ended_.error_of(0, hosts_);
    return std::move(joins_.extract(join).mapped().answers);
}

/// Rank 0 has ended, and so has the rank above, which had forwarded all that came from rank 0 before.
bool Node::has_first_ended() const { return ended_.has(0) && ended_.has(membership_->neighbours().above); }

bool Node::have_all_left() const {
    return std::ranges::all_of(membership_->members(), [this](int one) { return ended_.has(one); });
}

template <class Ready>
void Node::wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    changed_.wait(lock, [&] { return failure_ || must_recover_ || ready(); });
    expect_alive();
}

void Node::expect_alive() const {
    if (failure_) throw Error{*failure_};
    if (must_recover_) throw Error{*last_loss_};
}

/// What belongs to an earlier generation has been lost with a rank.
void Node::expect_current(std::uint32_t generation) const {
    if (generation != generation_) throw Error{*last_loss_};
}

Neighbours Node::neighbours() const {
    const std::scoped_lock lock(mutex_);
    return membership_->neighbours();
}

std::vector<int> Node::members() const {
    const std::scoped_lock lock(mutex_);
    return membership_->members();
}

void Node::continue_after_losses(Membership::Clock::duration patience) {
    submitters_.admit_only_this(); // so the threads of a rank need not agree on what is done again
    if (const std::scoped_lock lock(mutex_); continues_) return;
    const auto set = [&](auto change) {
        post([this, patience, change] {
            const std::scoped_lock lock(mutex_);
            change(*membership_, patience);
        });
        static_cast<void>(exchange({}));
    };
    // In this order, so that no rank expects signs that another one does not send yet.
    set([](Membership& members, auto time) { members.send_signs_for(time); });
    set([](Membership& members, auto time) { members.expect_signs_within(time); });
    const std::scoped_lock lock(mutex_);
    continues_ = true;
}

bool Node::recover() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return failure_ || !is_changing_; });
    if (failure_ || !must_recover_) return false;
    must_recover_ = false;
    return true;
}

void Node::post(std::function<void()> call) {
    const std::scoped_lock lock(mutex_);
    expect_alive();
    if (!transport_) throw Error{ErrorKind::cancelled, "the session of this rank has ended"};
    posted_.push_back(std::move(call));
    transport_->wake();
}

void Node::leave(ErrorPtr why) noexcept {
    const bool has_words = why != nullptr;
    {
        const std::scoped_lock lock(mutex_);
        if (why) last_failure_ = std::move(why);
        is_leaving_ = true;
        if (transport_) transport_->wake();
    }
    thread_.join();
    if (failure_ && !has_words) log_error(failure_->what()); // no call has thrown it
}

bool Node::has_first_failed() const {
    const std::scoped_lock lock(mutex_);
    if (ended_.has(0)) return ended_.has_failed(0);
    // All members get to know of a loss.
    return last_loss_ && membership_->is_member(0) && membership_->is_member(rank_);
}

bool Node::has_first_ended_well() const {
    const std::scoped_lock lock(mutex_);
    return ended_.has(0) && !ended_.has_failed(0);
}

// What follows is called by the thread.

void Node::run(const OpenTransport& open) {
    try {
        {
            auto transport = wire_.watch(open());
            const std::scoped_lock lock(mutex_);
            transport_ = std::move(transport);
            ranks_ = transport_->ranks();
            rank_ = transport_->rank();
            const auto send_to = [this](int to, Message message) { send(to, std::move(message)); };
            membership_.emplace(rank_, ranks_, fmt::format("rank {} on {}", rank_, host_name()), send_to,
                                Membership::Clock::now());
            jobs_.emplace(membership_->neighbours(), send_to);
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
                    // A rank that is cut off says nothing: the others may go on without it.
                    if (!is_cut_off_ && !std::exchange(has_told, true)) {
                        const ErrorPtr& why = failure_ ? failure_ : last_failure_;
                        ended_.note(rank(), why);
                        for (int other = 0; other < ranks_; ++other)
                            if (other != rank()) send(other, Writer(Topic::leaving).put(why).take());
                    }
                    if (have_all_left() || failure_) break;
                }
            }
            look_after_members();
            // A burst of messages is taken before the next look.
            const auto idle = std::min<std::chrono::nanoseconds>(idle_interval, membership_->interval());
            auto patience = jobs_->empty() ? idle : look_interval;
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
        if (transport_) transport_->leave_out_of_order();
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

/// To all below. The rank that has the bytes of this result gets none of them, unless it forwards them.
void Node::forward_down(const Message& message, int has_it) {
    const auto shared = std::make_shared<const Message>(message);
    for (const int rank : membership_->neighbours().below) {
        if (!can_send_) return;
        if (rank == has_it && membership_->is_leaf(rank))
            transport_->send(rank, without_bytes(message));
        else
            transport_->send_shared(rank, shared);
    }
}

/// Rank 0 has ended, and gives no work any more. Jobs that it has closed still end here.
void Node::end_open_jobs() {
    ErrorPtr why;
    {
        const std::scoped_lock lock(mutex_);
        if (rank() == 0 || !has_first_ended()) return;
        why = std::make_shared<const Error>(ended_.error_of(0, hosts_));
    }
    jobs_->end_open(why);
}

void Node::look_after_jobs() {
    if (has_news_of_end_) end_open_jobs();
    for (const ErrorPtr& failure : jobs_->look(JobShares::Clock::now())) {
        const std::scoped_lock lock(mutex_);
        if (!is_leaving_ || !last_failure_) last_failure_ = failure;
    }
}

/// Finds silent neighbours, and goes on without them or ends.
void Node::look_after_members() {
    {
        const auto now = Membership::Clock::now();
        const std::scoped_lock lock(mutex_);
        for (const int rank : transport_->take_heard()) membership_->heard(rank, now);
        membership_->look(now);
    }
    change_members();
}

/// If ranks are lost that this node does not know to be lost: what all ranks do together ends.
void Node::change_members() {
    if (membership_->generation() == generation_) return;
    std::unique_lock lock(mutex_);
    const ErrorPtr why = loss_known_to(*membership_, rank_, hosts_);
    generation_ = membership_->generation();
    last_loss_ = why;
    const bool ends = !continues_ || !membership_->is_member(0) || !membership_->is_member(rank_);
    must_recover_ = is_changing_ = !ends;
    is_cut_off_ = ends;
    lock.unlock();
    for (const int rank : membership_->lost()) transport_->forget(rank);
    if (ends) return fail(why);
    for (; told_losses_ < membership_->lost().size(); ++told_losses_) // there may be several
        if (rank_ == 0)
            log_warning(name_of_rank(membership_->lost()[told_losses_], hosts_) +
                        " is lost: the other ranks go on without it");
    for (const auto& call : take_posted()) call(); // calls of the last generation; no more come
    jobs_->abandon(why);
    lock.lock();
    std::erase_if(exchanges_, [](const auto& one) { return !one.second.result; });
    joins_.clear();
    submitters_.begin_generation(generation_);
    is_changing_ = false;
    changed_.notify_all();
    lock.unlock();
    for (Received& received : std::exchange(held_, {})) receive(std::move(received));
}

void Node::receive(Received received) {
    const auto now = Membership::Clock::now();
    std::unique_lock lock(mutex_);
    if (received.is_loss) {
        if (!ended_.has(received.from)) membership_->suspect(received.from, now); // else it has said so
    } else {
        membership_->heard(received.from, now);
        Reader message(received.bytes);
        const auto topic = message.get<Topic>();
        if (topic == Topic::suspect) membership_->suspect(message.get<int>(), now);
        if (topic == Topic::members) membership_->take(received.from, message, now);
    }
    lock.unlock();
    change_members();
    if (received.is_loss) return;
    const std::uint32_t generation = generation_of(received.bytes).value_or(generation_);
    if (generation > generation_)
        held_.push_back(std::move(received));
    else if (generation == generation_)
        receive_from_member(std::move(received));
}

void Node::receive_from_member(Received received) {
    Reader message(received.bytes);
    const auto topic = message.get<Topic>();
    switch (topic) {
    case Topic::report: {
        const auto number = message.get<CallNumber>();
        const auto part = message.bytes();
        const std::scoped_lock lock(mutex_);
        Collected& all = exchanges_[number];
        all.parts[received.from].assign(part.begin(), part.end());
        return finish_exchange(number, all);
    }
    case Topic::reports: {
        forward_down(received.bytes);
        const auto number = message.get<CallNumber>();
        const auto result = message.bytes();
        const std::scoped_lock lock(mutex_);
        exchanges_[number].result.emplace(result.begin(), result.end());
        return changed_.notify_all();
    }
    case Topic::result: {
        const auto join = message.get<JoinNumber>();
        const auto of = message.get<int>();
        forward_down(received.bytes, of);
        const std::scoped_lock lock(mutex_);
        Collected& all = joins_[join];
        all.expected = message.get<std::uint64_t>();
        const auto answer = message.bytes();
        all.answers.push_back({of, {answer.begin(), answer.end()}});
        return changed_.notify_all();
    }
    case Topic::replicas: {
        const auto join = message.get<JoinNumber>();
        const auto part = message.bytes();
        const std::scoped_lock lock(mutex_);
        joins_[join].parts[received.from].assign(part.begin(), part.end());
        return changed_.notify_all();
    }
    case Topic::leaving: {
        const std::scoped_lock lock(mutex_);
        ended_.note(received.from, message.error());
        has_news_of_end_ = true;
        return changed_.notify_all();
    }
    case Topic::alive:
    case Topic::suspect:
    case Topic::members:
        return;
    default:
        jobs_->receive(received.from, topic, message, JobShares::Clock::now());
    }
}

void Node::fail(const ErrorPtr& why) {
    {
        const std::scoped_lock lock(mutex_);
        if (!failure_) failure_ = why;
        changed_.notify_all();
    }
    if (jobs_) jobs_->abandon(why); // the others get to know in another way
}

} // namespace headrace::cluster
