// bench/sobel.cpp - what does the framework cost on video frames that are in the device for a moment only?
//
// headrace-sobel's filter and a program by hand, in CUDA, OpenCL or OpenMP, take turns in this one process,
// on the same frames, between files and memory; the first turn is dropped, results are compared byte by byte.
// Prints a Markdown table.
#include "command_line.hpp"
#include "sobel/filter.hpp"
#include "sobel_baseline.hpp"
#include <headrace/devices/discovery.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Where frames come from or go to.
enum class Place : std::uint8_t {
    file,   ///< raw frames
    copied, ///< ordinary memory: the host copies every frame
    pinned, ///< memory that the device reaches: nothing is copied on the host
};

/// The same filter without Headrace.
struct ByHand {
    const char *name, *title, *our_device; ///< what Headrace is to use beside it
    std::function<std::unique_ptr<bench::SobelBaseline>(unsigned opencl_number, const sobel::FrameFormat&,
                                                        std::size_t in, std::size_t out, bool asynchronous)>
        make;
};

/// Those that this build has.
std::vector<ByHand> programs_by_hand() {
    std::vector<ByHand> all;
#if defined(BENCH_HAS_CUDA)
    all.push_back(
        {"cuda", "CUDA", "cuda:0", [](unsigned, const auto& format, auto in, auto out, bool asynchronous) {
             return asynchronous ? bench::sobel_cuda_async(format, in, out)
                                 : bench::sobel_cuda_sync(format, in, out);
         }});
#endif
#if defined(BENCH_HAS_OPENCL)
    all.push_back({"opencl", "OpenCL", "opencl:0", bench::sobel_opencl});
#endif
#if defined(BENCH_HAS_OPENMP)
    all.push_back(
        {"openmp", "OpenMP", "cpu", [](unsigned, const auto& format, auto in, auto out, bool asynchronous) {
             return bench::sobel_openmp(format, in, out, asynchronous);
         }});
#endif
    return all;
}

struct Settings {
    int width = 1920, height = 1080, frames = 100, repeats = 5, in_flight = 4;
    fs::path folder = fs::temp_directory_path();
    std::string beside, device, commit = "unknown";
    unsigned opencl_number = 0;

    std::vector<ByHand> programs = programs_by_hand();

    [[nodiscard]] const ByHand& by_hand() const {
        return *std::ranges::find(programs, beside, &ByHand::name);
    }
    [[nodiscard]] std::string input() const { return (folder / "sobel_input.yuv").string(); }
    [[nodiscard]] std::string output(const std::string& whose) const {
        return (folder / ("sobel_output_" + whose + ".yuv")).string();
    }
};

/// One program's way from one place to another in one mode.
class Contestant {
public:
    Contestant(const Settings& settings, std::string name, Place from, Place to)
        : settings_(settings),
          name_(std::move(name)),
          from_(from),
          to_(to),
          format_(sobel::yuv_420(settings.width, settings.height)) {
        if (from == Place::copied) source_ = std::make_unique<sobel::MemorySource>(format_, settings.frames);
        if (to == Place::copied) sink_ = std::make_unique<sobel::MemorySink>(format_, settings.frames);
    }
    virtual ~Contestant() = default;
    Contestant(const Contestant&) = delete;
    Contestant& operator=(const Contestant&) = delete;

    /// Seconds, from opening files to closing them.
    double take_turn() {
        const auto begin = std::chrono::steady_clock::now();
        if (from_ == Place::file)
            source_ = std::make_unique<sobel::StreamSource>(settings_.input(), &format_);
        if (to_ == Place::file) sink_ = std::make_unique<sobel::StreamSink>(settings_.output(name_), format_);
        if (run(source_.get(), sink_.get(), settings_.frames) != settings_.frames)
            throw std::runtime_error("some frames are missing");
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    /// What became of a frame in the last turn; not of files.
    [[nodiscard]] sobel::ConstPixels output(int frame) {
        const auto place = static_cast<std::size_t>(frame);
        const auto* const memory = dynamic_cast<const sobel::MemorySink*>(sink_.get());
        return memory != nullptr ? memory->frame(place) : edges(place);
    }

protected:
    virtual std::int64_t run(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most) = 0;
    [[nodiscard]] virtual sobel::ConstPixels edges(std::size_t place) = 0;
    [[nodiscard]] int places(Place place, bool asynchronous) const {
        return place == Place::pinned ? settings_.frames : asynchronous ? settings_.in_flight : 1;
    }
    [[nodiscard]] const sobel::FrameFormat& format() const { return format_; }

private:
    const Settings& settings_;
    const std::string name_;
    const Place from_, to_;
    const sobel::FrameFormat format_;
    std::unique_ptr<sobel::FrameSource> source_;
    std::unique_ptr<sobel::FrameSink> sink_;
};

class Ours final : public Contestant {
public:
    Ours(const Settings& settings, headrace::Device& device, Place from, Place to, bool asynchronous)
        : Contestant(settings, "headrace", from, to), controller_(device, {.asynchronous = asynchronous}) {
        reading_.set_asynchronous(asynchronous);
        writing_.set_asynchronous(asynchronous);
        filter_ = std::make_unique<sobel::Filter>(sobel::Lanes{controller_, reading_, writing_}, format(),
                                                  places(from, asynchronous), places(to, asynchronous));
        if (from == Place::pinned)
            for (int i = 0; i < settings.frames; ++i)
                sobel::generate(i, filter_->frame(static_cast<std::size_t>(i)));
    }

private:
    std::int64_t run(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most) override {
        return filter_->run(source, sink, most);
    }
    sobel::ConstPixels edges(std::size_t place) override { return filter_->edges(place); }

    headrace::Controller controller_;
    headrace::HostLane reading_{"reading"}, writing_{"writing"};
    std::unique_ptr<sobel::Filter> filter_; // last: it uses the rest
};

class Theirs final : public Contestant {
public:
    Theirs(const Settings& settings, Place from, Place to, bool asynchronous)
        : Contestant(settings, "by_hand", from, to) {
        const auto in = static_cast<std::size_t>(places(from, asynchronous));
        const auto out = static_cast<std::size_t>(places(to, asynchronous));
        baseline_ = settings.by_hand().make(settings.opencl_number, format(), in, out, asynchronous);
        if (from == Place::pinned)
            for (int i = 0; i < settings.frames; ++i)
                sobel::generate(i, {baseline_->frame(static_cast<std::size_t>(i)), format().planes.bytes()});
    }

private:
    std::int64_t run(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most) override {
        return baseline_->run(source, sink, most);
    }
    sobel::ConstPixels edges(std::size_t place) override {
        return {baseline_->edges(place), format().planes.bytes()};
    }

    std::unique_ptr<bench::SobelBaseline> baseline_;
};

std::string bytes_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void expect_equal(const Settings& settings, Place to, Contestant& ours, Contestant& theirs) {
    bool same = true;
    if (to == Place::file)
        same = bytes_of(settings.output("headrace")) == bytes_of(settings.output("by_hand"));
    else
        for (int i = 0; i < settings.frames; ++i)
            same = same && std::ranges::equal(ours.output(i), theirs.output(i));
    if (!same) throw std::runtime_error("the two programs find different edges");
}

struct Spread {
    double least, median, most;

    explicit Spread(std::vector<double> values) {
        std::ranges::sort(values);
        least = values.front();
        median = values[values.size() / 2];
        most = values.back();
    }
    [[nodiscard]] std::string text() const {
        return fmt::format("{:.2f} ({:.2f} to {:.2f})", 1e3 * median, 1e3 * least, 1e3 * most);
    }
};

const char* name(Place place) {
    return place == Place::file ? "file" : place == Place::copied ? "memory, copied" : "memory, pinned";
}

void compare(const Settings& settings, headrace::Device& device, Place from, Place to) {
    fmt::print("| {} | {} |", name(from), name(to));
    for (const bool asynchronous : {false, true}) {
        Theirs theirs(settings, from, to, asynchronous);
        Ours ours(settings, device, from, to, asynchronous);
        std::vector<double> our_seconds, their_seconds;
        for (int turn = 0; turn <= settings.repeats; ++turn) {
            const double them = theirs.take_turn(), us = ours.take_turn();
            if (turn == 0) continue; // a warm-up
            their_seconds.push_back(them);
            our_seconds.push_back(us);
        }
        expect_equal(settings, to, ours, theirs);
        const Spread us(our_seconds), them(their_seconds);
        fmt::print(" {} | {} | {:.3f} |", them.text(), us.text(), us.median / them.median);
        std::fflush(stdout);
    }
    fmt::print("\n");
}

void run(const Settings& settings) {
    auto selection =
        headrace::select_devices(settings.device.empty() ? settings.by_hand().our_device : settings.device);
    headrace::Device& device = *selection.devices.front();
    std::ofstream input(settings.input(), std::ios::binary);
    std::vector<std::uint8_t> frame(sobel::yuv_420(settings.width, settings.height).planes.bytes());
    for (int i = 0; i < settings.frames; ++i) {
        sobel::generate(i, frame);
        input.write(reinterpret_cast<const char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
    }
    input.close();
    if (!input) throw std::runtime_error(settings.input() + ": cannot be written; choose another --folder");

    fmt::print("{} (driver {}), commit {}; {} frames of {} x {}, YUV 4:2:0; files in {}; milliseconds, "
               "median (least "
               "to most) of {}\n\n",
               device.info().name, device.info().driver, settings.commit, settings.frames, settings.width,
               settings.height, settings.folder.string(), settings.repeats);
    fmt::print(
        "| from | to | {0}, synchronous | Headrace, synchronous | ratio | {0}, asynchronous | Headrace, "
        "asynchronous | ratio |\n|---|---|---|---|---|---|---|---|\n",
        settings.by_hand().title);
    constexpr std::array variants{
        std::array{Place::file, Place::file},     std::array{Place::file, Place::copied},
        std::array{Place::copied, Place::file},   std::array{Place::copied, Place::copied},
        std::array{Place::file, Place::pinned},   std::array{Place::pinned, Place::file},
        std::array{Place::pinned, Place::pinned},
    };
    for (const auto& [from, to] : variants) compare(settings, device, from, to);
    for (const std::string& file :
         {settings.input(), settings.output("headrace"), settings.output("by_hand")})
        fs::remove(file);
}

} // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::CommandLine app("The Sobel filter of video frames beside a program by hand.", "sobel");
    std::vector<std::string> names;
    for (const ByHand& program : settings.programs) names.emplace_back(program.name);
    settings.beside = names.front();
    app.add("--beside", settings.beside, "In what the program by hand is written").one_of(names);
    app.add("--device", settings.device, "Of ours; default: cuda:0, opencl:0 or cpu");
    app.add("--opencl-number", settings.opencl_number, "The same one's place in the loader's order");
    app.add("--width", settings.width);
    app.add("--height", settings.height);
    app.add("--frames", settings.frames);
    app.add("--in-flight", settings.in_flight, "Frames in flight of ours");
    app.add("--repeats", settings.repeats, "Turns after the warm-up");
    app.add("--folder", settings.folder, "For files; /dev/shm leaves the disk out");
    app.add("--commit", settings.commit, "To print");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        run(settings);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "sobel: {}\n", error.what());
        return 1;
    }
}
