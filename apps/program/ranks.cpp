// apps/program/ranks.cpp - see ranks.hpp.
#include "program/ranks.hpp"
#include "program/quiet_process.hpp"
#include "program/shared_input.hpp"

#include <exception>
#include <functional>
#include <string>
#include <utility>

namespace program {
namespace {

/// `print` prints the current exception.
void tell_failure(headrace::cluster::Session& session, const std::function<void()>& print) {
    if (session.is_first()) print(); // before the others end: mpirun then ends this process too
    const bool is_told = !std::current_exception() || session.leave(*headrace::current_error());
    if (!session.is_first() && !is_told) print();
}

} // namespace

Ranks::Ranks() {
    if (session_.ranks() < 2) return;
    if (!session_.is_first()) become_quiet();
    share_input_by({session_.is_first(), [this](std::string bytes_of_first) {
                        return session_.broadcast(std::move(bytes_of_first));
                    }});
    tell_failures_by([this](const std::function<void()>& print) { tell_failure(session_, print); });
}

Ranks::~Ranks() {
    share_input_by({});
    tell_failures_by(nullptr);
}

} // namespace program
