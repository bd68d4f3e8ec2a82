// apps/mandelbrot/main.cpp - headrace-mandelbrot: a zoom into the Mandelbrot set, frame after frame.
#include "controller_program/run.hpp"
#include "picture.hpp"
#include "program/numbers.hpp"
#include "program/output_file.hpp"
#include "program/used_files.hpp"
#include "zoom.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace mandelbrot;
namespace fs = std::filesystem;

struct Options {
    Size size{1920, 1080};
    int frames = 100, threshold = 1000;
    int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    Window window;
    double zoom = 0.05;
    std::optional<Point> target;
    fs::path folder;
};

void declare(program::CommandLine& line, Options& options) {
    line.group("Pictures");
    line.whole("--width", options.size.width, 1, 65536, "PIXELS", "Width of a frame");
    line.whole("--height", options.size.height, 1, 65536, "PIXELS", "Height of a frame");
    line.whole("--frames", options.frames, 1, 10'000'000, "N", "Frames to compute");
    line.whole("--threshold", options.threshold, 1, 1'000'000'000, "N",
               "Steps after which a point counts as inside");
    line.option("--out", "", "FOLDER",
                "Where frame_00000.png and so on go; default: no pictures, only figures",
                [&](const std::string& text) { options.folder = text; });
    line.group("Window");
    line.real("--x1", options.window.x1, -1e3, 1e3, "X", "Left edge of the first frame");
    line.real("--x2", options.window.x2, -1e3, 1e3, "X", "Right edge");
    line.real("--y1", options.window.y1, -1e3, 1e3, "Y", "Top edge");
    line.real("--y2", options.window.y2, -1e3, 1e3, "Y", "Bottom edge");
    line.real("--zoom", options.zoom, 0, 0.99, "SHARE",
              "Part of the window that each edge loses from frame to frame");
    line.option("--target", "", "X,Y", "What to zoom in on; default: a little beyond the middle",
                [&](const std::string& text) {
                    const std::size_t comma = std::min(text.find(','), text.size());
                    if (text.empty()) return;
                    if (comma == text.size())
                        program::refuse("--target " + text + ": takes two numbers, X,Y");
                    options.target = Point{program::real("--target", text.substr(0, comma), -1e3, 1e3),
                                           program::real("--target", text.substr(comma + 1), -1e3, 1e3)};
                });
    line.group("Work");
    line.whole("--host-threads", options.threads, 1, 1024, "N", "Frames that are made into pictures at once");
}

/// A frame whose pixels are closer than doubles tell apart would show blocks.
void check_depth(const std::vector<Window>& windows, const Options& options) {
    const auto [width, height] = options.size;
    const auto deep = std::ranges::find_if_not(
        windows, [&](const Window& window) { return window.is_resolved(width, height); });
    if (deep == windows.end()) return;
    const auto number = deep - windows.begin();
    std::ostringstream text;
    text << "frame " << number << ": its pixels are " << deep->spacing(width, height)
         << " apart, which doubles do not tell apart near " << deep->reach() << "; "
         << (number == 0 ? "take a wider window (--x1, --x2, --y1, --y2)"
                         : "--frames " + std::to_string(number) + " is the most, or take a smaller --zoom");
    program::refuse(text.str());
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    program::CommandLine line("headrace-mandelbrot", "A zoom into the Mandelbrot set, frame after frame.");
    line.example({"headrace-mandelbrot --frames 5 --out ."});
    declare(line, options);
    return controller_program::run(line, argc, argv, [&](controller_program::Machine& machine) {
        const auto [width, height] = options.size;
        if (!options.folder.empty()) {
            program::check_writable(file_of_frame(options.folder, 0));
            program::note_outputs("--out", options.folder, [](const std::string& name) {
                static const std::regex ours(R"(frame_\d{5,}\.png)");
                return std::regex_match(name, ours);
            });
        }
        const std::vector<Window> windows =
            zoom_from(options.window, options.zoom, static_cast<std::size_t>(options.frames), options.target);
        check_depth(windows, options);
        std::vector<Statistics> statistics(windows.size());
        Zoom zoom(machine, options.size, options.threads);
        const auto finish = [&](std::size_t frame, headrace::In<int> steps) {
            const std::span<const int> pixels(steps.begin(), steps.end());
            statistics[frame] = statistics_of(pixels, options.threshold);
            if (!options.folder.empty())
                program::write_whole(file_of_frame(options.folder, frame),
                                     encode_png(width, height, pixels, options.threshold));
        };

        // Once everywhere without a clock: drivers allocate and compile at first use.
        for (const Window& window : {windows.front(), windows.back()})
            zoom.compute(std::vector<Window>(zoom.slots(), window), 1, [](std::size_t, headrace::In<int>) {});
        machine.timed([&] { zoom.compute(windows, options.threshold, finish); });

        const double pixels = static_cast<double>(width) * height;
        std::vector<double> early, inside, mean;
        double all = 0;
        for (const Statistics& each : statistics) {
            early.push_back(static_cast<double>(each.early));
            inside.push_back(static_cast<double>(each.inside) / pixels);
            mean.push_back(static_cast<double>(each.steps) / pixels);
            all += static_cast<double>(each.steps);
        }
        machine.report("width", std::int64_t{width});
        machine.report("height", std::int64_t{height});
        machine.report("frames", std::int64_t{options.frames});
        machine.report("threshold", std::int64_t{options.threshold});
        machine.report("left_early", std::move(early));
        machine.report("share_inside", std::move(inside));
        machine.report("mean_steps", std::move(mean));
        machine.report("checksum", all); // steps in all, which every device counts alike
    });
}
