// apps/job_program/progress_bar.cpp - see progress_bar.hpp.
#include "progress_bar.hpp"

#include <unistd.h>

namespace job_program {

ProgressBar::ProgressBar(std::uint64_t total, bool is_wanted)
    : total_(total), is_wanted_(is_wanted), is_terminal_(::isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(std::uint64_t finished, const std::string& doing) {
    if (!is_wanted_ || total_ == 0) return;
    constexpr unsigned columns = 40;
    const double part = static_cast<double>(finished) / static_cast<double>(total_);
    const auto mille = static_cast<unsigned>(1000 * part);
    if (is_terminal_ ? mille == shown_ && doing == doing_ : mille / 100 == shown_ / 100) return;
    shown_ = mille;
    const std::string blank(doing_.size() > doing.size() ? doing_.size() - doing.size() : 0, ' ');
    doing_ = doing;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (is_terminal_) {
        const auto filled = static_cast<unsigned>(columns * part);
        const std::string bar = std::string(filled, '#') + std::string(columns - filled, '.');
        std::fprintf(stderr, "\r[%s] %5.1f %%  %.0f s  %s%s", bar.c_str(), 100 * part, seconds, doing.c_str(),
                     blank.c_str());
    } else {
        std::fprintf(stderr, "%5.1f %%  %.1f s%s%s\n", 100 * part, seconds, doing.empty() ? "" : "  ",
                     doing.c_str());
    }
    std::fflush(stderr);
}

void ProgressBar::finish() {
    show(total_);
    if (is_wanted_ && is_terminal_) std::fputc('\n', stderr);
}

} // namespace job_program
