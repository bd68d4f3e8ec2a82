// apps/path_tracer/serve.cpp - see serve.hpp.
#include "serve.hpp"
#include "growing_picture.hpp"
#include "image.hpp"
#include "job_program/interruption.hpp"
#include "tone_map.hpp"

#include "live_page.html.hpp"

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace path_tracer {
namespace {

using Json = nlohmann::json;

std::string make_token() {
    std::random_device random;
    std::string token;
    for (int i = 0; i < 4; ++i) {
        char word[9];
        std::snprintf(word, sizeof word, "%08x", random());
        token += word;
    }
    return token;
}

Json json_of(const CameraPose& view) {
    return {{"eye", {view.eye.x, view.eye.y, view.eye.z}},
            {"target", {view.target.x, view.target.y, view.target.z}},
            {"fov", view.vertical_fov_degrees},
            {"roll", view.roll_degrees}};
}

/// `view` with what a browser has changed. Throws if it is no such object, or makes no camera.
CameraPose changed(CameraPose view, const Json& json, const Options& options, const Placement& placement) {
    const auto point = [&](const char* key) {
        return Point{json.at(key).at(0).get<double>(), json.at(key).at(1).get<double>(),
                     json.at(key).at(2).get<double>()};
    };
    view.eye = point("eye");
    view.target = point("target");
    view.vertical_fov_degrees = json.at("fov").get<float>();
    view.roll_degrees = json.value("roll", 0.0);
    view.up.reset();
    static_cast<void>(make_camera(view, placement, options.width, options.height));
    return view;
}

/// What the thread that renders and those of the browser share.
class Show {
public:
    explicit Show(CameraPose view) : view_(std::move(view)) {}

    struct Seen {
        std::vector<Rgb> pixels;
        std::uint32_t samples = 0;
        std::uint64_t number = 0; ///< of pictures
        Json devices = Json::array();
    };

    /// The view from now on; what is rendered of another is of no use.
    void look(const CameraPose& view) {
        const std::scoped_lock lock(mutex_);
        view_ = view;
        ++views_;
        if (running_) running_->cancel();
        woken_.notify_all();
    }
    [[nodiscard]] std::pair<CameraPose, std::uint64_t> view() const {
        const std::scoped_lock lock(mutex_);
        return {view_, views_};
    }
    /// Runs a job that a change of the view cancels. Errors: cancelled; of the job
    headrace::JobReport run(headrace::Runtime& runtime, const headrace::Job& job, std::uint64_t views) {
        const headrace::JobHandle handle = runtime.submit(job);
        {
            const std::scoped_lock lock(mutex_);
            running_ = handle;
            if (views_ != views) handle.cancel();
        }
        while (!handle.wait_for(std::chrono::milliseconds(50)))
            if (job_program::interruption() != 0) handle.cancel();
        {
            const std::scoped_lock lock(mutex_);
            running_.reset();
        }
        handle.wait();
        return handle.report();
    }
    void show(std::vector<Rgb> pixels, std::uint32_t samples, Json devices) {
        const std::scoped_lock lock(mutex_);
        seen_.pixels = std::move(pixels);
        seen_.samples = samples;
        seen_.devices = std::move(devices);
        ++seen_.number;
    }
    [[nodiscard]] Seen seen() const {
        const std::scoped_lock lock(mutex_);
        return seen_;
    }
    /// Until the view is another, or for a moment.
    void wait_for_a_change(std::uint64_t views) {
        std::unique_lock lock(mutex_);
        woken_.wait_for(lock, std::chrono::milliseconds(100), [&] { return views_ != views; });
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable woken_;
    CameraPose view_;
    std::uint64_t views_ = 0;
    std::optional<headrace::JobHandle> running_;
    Seen seen_;
};

/// Passes grow, so that the first picture of a view comes at once.
void render_until_interrupted(Show& show, headrace::Runtime& runtime, const Options& options,
                              const PreparedScene& prepared, const SceneDomains& scene) {
    constexpr std::uint32_t most_of_a_pass = 16;
    while (job_program::interruption() == 0) {
        const auto [view, views] = show.view();
        GrowingPicture picture(
            make_frame(options, prepared, view), options.kernel, scene,
            [&, views = views](const headrace::Job& job) { return show.run(runtime, job, views); });
        try {
            for (std::uint32_t pass = 1; picture.samples() < options.samples && show.view().second == views;
                 pass = std::min(2 * pass, most_of_a_pass)) {
                picture.add(std::min(pass, options.samples - picture.samples()));
                Json devices = Json::array();
                for (const auto& device : picture.report().devices)
                    devices.push_back({{"id", device.id}, {"share", device.share}});
                show.show(picture.pixels(), picture.samples(), std::move(devices));
            }
        } catch (const headrace::Error& error) {
            if (error.kind() != headrace::ErrorKind::cancelled) throw;
        }
        while (show.view().second == views && job_program::interruption() == 0) show.wait_for_a_change(views);
    }
}

/// Answers of the server to requests with the token.
void answer(httplib::Server& server, Show& show, const Options& options, const Placement& placement,
            const std::string& token) {
    server.set_pre_routing_handler([token](const httplib::Request& request, httplib::Response& response) {
        // A page of another site that calls itself 127.0.0.1 does not know the token either; the host is
        // looked at besides.
        const std::string host = request.get_header_value("Host");
        const bool is_here = host.starts_with("127.0.0.1:") || host.starts_with("localhost:");
        if (is_here && request.get_param_value("token") == token)
            return httplib::Server::HandlerResponse::Unhandled;
        response.status = 403;
        response.set_content("The address that the program has printed has a token; use that one.\n",
                             "text/plain");
        return httplib::Server::HandlerResponse::Handled;
    });
    server.set_default_headers({{"Cache-Control", "no-store"},
                                {"Content-Security-Policy",
                                 "default-src 'none'; img-src 'self' data:; connect-src 'self'; script-src "
                                 "'unsafe-inline'; style-src 'unsafe-inline'"},
                                {"Referrer-Policy", "no-referrer"}});
    server.Get("/", [](const httplib::Request&, httplib::Response& response) {
        constexpr std::string_view page = headrace::embedded::live_page_html;
        response.set_content(page.data(), page.size(), "text/html; charset=utf-8");
    });
    server.Get("/state", [&](const httplib::Request&, httplib::Response& response) {
        const Show::Seen seen = show.seen();
        const Json state{
            {"samples", seen.samples},           {"wanted", options.samples}, {"picture", seen.number},
            {"devices", seen.devices},           {"width", options.width},    {"height", options.height},
            {"view", json_of(show.view().first)}};
        response.set_content(state.dump(), "application/json");
    });
    server.Get("/picture.png", [&](const httplib::Request& request, httplib::Response& response) {
        Show::Seen seen = show.seen();
        if (seen.pixels.empty()) {
            response.status = 503;
            return;
        }
        const double exposure =
            std::clamp(std::atof(request.get_param_value("exposure").c_str()), -32.0, 32.0);
        const auto factor = static_cast<float>(std::exp2(exposure + double{options.exposure}));
        for (Rgb& pixel : seen.pixels) pixel = {pixel.r * factor, pixel.g * factor, pixel.b * factor};
        map_tones(options.tone_map, seen.pixels);
        response.set_content(encode_image(ImageFormat::png, options.width, options.height, seen.pixels),
                             "image/png");
    });
    server.Post("/view", [&](const httplib::Request& request, httplib::Response& response) {
        try {
            show.look(changed(show.view().first, Json::parse(request.body), options, placement));
            response.set_content("{}", "application/json");
        } catch (const std::exception& error) {
            response.status = 400;
            response.set_content(std::string(error.what()) + "\n", "text/plain");
        }
    });
}

} // namespace

void serve(int port, headrace::Runtime& runtime, const Options& options, const PreparedScene& prepared,
           const SceneDomains& scene, CameraPose view) {
    constexpr const char* here = "127.0.0.1";
    const job_program::EndsByItself ends; // Ctrl-C is how this ends
    Show show(std::move(view));
    httplib::Server server;
    server.set_payload_max_length(4096); // of a view
    const std::string token = make_token();
    answer(server, show, options, prepared.placement, token);
    const int bound = port == 0 ? server.bind_to_any_port(here) : server.bind_to_port(here, port) ? port : -1;
    if (bound < 0)
        throw headrace::Error{headrace::ErrorKind::io,
                              "--serve " + std::to_string(port) +
                                  ": the port cannot be opened; 0 takes any that is free"};
    std::printf("http://%s:%d/?token=%s\n", here, bound, token.c_str());
    std::fflush(stdout);
    std::thread listening([&server] { server.listen_after_bind(); });
    const auto stop = [&] {
        server.stop();
        listening.join();
    };
    try {
        render_until_interrupted(show, runtime, options, prepared, scene);
    } catch (...) {
        stop();
        throw;
    }
    stop();
}

} // namespace path_tracer
