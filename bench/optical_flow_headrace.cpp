// bench/optical_flow_headrace.cpp - see optical_flow_headrace.hpp.
#include "optical_flow_headrace.hpp"
#include "device_set.hpp"

#include "optical_flow/flow_stream.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

namespace bench {
namespace {

using optical_flow::FlowStream;

/// Frames that are there, from the first on.
class Frames final : public optical_flow::FrameSource {
public:
    Frames(optical_flow::Size size, const std::vector<std::span<float>>& frames)
        : size_(size), frames_(frames) {}
    [[nodiscard]] optical_flow::Size size() const override { return size_; }
    [[nodiscard]] bool read(std::span<float> brightness) override {
        if (next_ == frames_.size()) return false;
        std::ranges::copy(frames_[next_++], brightness.begin());
        return true;
    }

private:
    const optical_flow::Size size_;
    const std::vector<std::span<float>>& frames_;
    std::size_t next_ = 0;
};

class HeadraceFlow final : public FlowProgram {
public:
    HeadraceFlow(const std::string& set, const FlowProblem& problem, std::size_t frames,
                 std::size_t pairs_at_once)
        : size_(problem.size), devices_(open_set(set.substr(0, set.find('@')))) {
        const bool parts = devices_.size() > 1 && set.ends_with("@parts");
        const auto at_once = [&](std::size_t device) -> std::size_t {
            if (parts || pairs_at_once > 0) return parts ? 1 : pairs_at_once;
            return optical_flow::pairs_that_fill(devices_[device]->info(), size_, devices_.size());
        };
        std::vector<headrace::Controller*> controllers;
        optical_flow::for_pairs_in_turns(devices_.size(), at_once, [&](std::size_t, std::size_t device) {
            controllers.push_back(&controllers_.emplace_back(*devices_[device]));
        });
        const optical_flow::Settings settings{.levels = problem.levels,
                                              .warps = problem.warps,
                                              .iterations = problem.iterations,
                                              .alpha = double{problem.alpha}};
        const std::size_t pairs = parts ? controllers.size() + 1 : 2 * controllers.size();
        flow_.emplace(optical_flow::Lanes{controllers, reading_, finishing_}, size_, settings,
                      headrace::Filter::hardware, pairs);
        if (parts)
            flow_->pipeline().find_mapping(model_);
        else if (devices_.size() == 1 || set.ends_with("@whole"))
            flow_->pipeline().give_whole_items();
        else
            flow_->pipeline().find_division(model_);
        for (std::size_t i = 0; i < frames; ++i) {
            memory_.push_back(devices_.front()->allocate_host(size_.pixels() * sizeof(float)));
            frames_.emplace_back(static_cast<float*>(memory_.back().get()), size_.pixels());
        }
    }

    [[nodiscard]] std::span<float> frame(std::size_t number) override { return frames_.at(number); }
    void run(const Take& take) override {
        Frames source(size_, frames_);
        const auto finish = [&take](std::int64_t pair, std::span<const float> u, std::span<const float> v) {
            take(static_cast<std::size_t>(pair), u, v);
        };
        flow_->run(source, finish, std::ssize(frames_) - 1);
    }
    [[nodiscard]] std::string device() const override {
        std::string names;
        for (const auto& device : devices_)
            names += (names.empty() ? "" : ", ") + device->info().name + ", driver " + device->info().driver;
        return names;
    }

private:
    /// Forgets what was measured with the run.
    headrace::PerformanceModel model_;
    const optical_flow::Size size_;
    std::vector<std::unique_ptr<headrace::Device>> devices_;
    std::deque<headrace::Controller> controllers_;
    headrace::HostLane reading_{"reading"}, finishing_{"finishing"};
    std::vector<std::shared_ptr<void>> memory_;
    std::vector<std::span<float>> frames_;
    std::optional<FlowStream> flow_;
};

} // namespace

std::unique_ptr<FlowProgram> optical_flow_headrace(const std::string& set, const FlowProblem& problem,
                                                   std::size_t frames, std::size_t pairs_at_once) {
    return std::make_unique<HeadraceFlow>(set, problem, frames, pairs_at_once);
}

} // namespace bench
