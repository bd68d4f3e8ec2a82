// apps/optical_flow/flow_files.cpp - see flow_files.hpp.
#include "flow_files.hpp"
#include "pixel_parts.hpp"
#include "program/numbers.hpp"
#include "program/output_file.hpp"
#include "video/frame_format.hpp"
#include <headrace/core/error.hpp>

#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

namespace optical_flow {
namespace {

std::filesystem::path file_of(const std::filesystem::path& folder, std::int64_t pair, const char* extension) {
    char name[40];
    std::snprintf(name, sizeof name, "flow_%05lld.%s", static_cast<long long>(pair), extension);
    return folder / name;
}

video::FrameFormat format_of(const std::string& file, Size size, const std::string& rate) {
    return video::parse_y4m(file, "YUV4MPEG2 W" + std::to_string(size.width) + " H" +
                                      std::to_string(size.height) + " F" + rate +
                                      " Ip A0:0 C444 XCOLORRANGE=FULL");
}

/// BT.601 in full range, as in JPEG files: Y, Cb and Cr take all values from 0 to 255.
/// Source  ITU-R BT.601-7 and ITU-T T.871, sec. 7
void to_yuv(std::span<const std::uint8_t> rgb, std::span<std::uint8_t> yuv) {
    const std::size_t pixels = rgb.size() / 3;
    std::uint8_t *const luma = yuv.data(), *const cb = luma + pixels, *const cr = cb + pixels;
    const auto rounded = [](float value) {
        return static_cast<std::uint8_t>(std::min(value + 0.5f, 255.0f));
    };
    tbb::parallel_for(parts_of(pixels), [&](const PixelPart& part) {
        for (std::size_t i = part.begin(); i != part.end(); ++i) {
            const float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
            const float y = 0.299f * r + 0.587f * g + 0.114f * b;
            luma[i] = rounded(y);
            cb[i] = rounded(128 + (b - y) / 1.772f);
            cr[i] = rounded(128 + (r - y) / 1.402f);
        }
    });
}

} // namespace

std::string encode_flo(Size size, std::span<const float> u, std::span<const float> v) {
    static_assert(std::endian::native == std::endian::little,
                  "else all numbers would have to be turned round");
    HEADRACE_ASSERT(u.size() == size.pixels() && v.size() == size.pixels());
    constexpr std::size_t header = 12;
    std::string bytes(header + 2 * sizeof(float) * size.pixels(), '\0');
    const std::int32_t sides[] = {size.width, size.height};
    std::memcpy(bytes.data(), "PIEH", 4);
    std::memcpy(bytes.data() + 4, sides, sizeof sides);
    tbb::parallel_for(parts_of(u.size()), [&](const PixelPart& part) {
        for (std::size_t i = part.begin(); i != part.end(); ++i) {
            const float both[] = {u[i], v[i]};
            std::memcpy(bytes.data() + header + i * sizeof both, both, sizeof both);
        }
    });
    return bytes;
}

FlowFolder::FlowFolder(std::filesystem::path folder, Size size, float longest,
                       std::vector<headrace::HostLane*> lanes)
    : folder_(std::move(folder)), size_(size), longest_(longest) {
    std::error_code why;
    std::filesystem::create_directories(folder_, why);
    if (why)
        throw headrace::Error{headrace::ErrorKind::io,
                              folder_.string() + ": the folder cannot be created: " + why.message()};
    for (headrace::HostLane* lane : lanes) works_.push_back({.lane = lane});
}

FlowFolder::~FlowFolder() { static_cast<void>(last_.outcome()); } // lanes use what is here

/// A copy of the flow and the .flo file's bytes; after those, colours and the PNG's bytes, which are fewer.
headrace::Bytes FlowFolder::bytes_of_lane(Size size) { return 2 * 2 * sizeof(float) * size.pixels(); }

void FlowFolder::write(std::int64_t pair, std::span<const float> u, std::span<const float> v) {
    if (works_.empty()) return write_files(pair, u, v, {});
    Work& work = works_[next_++ % works_.size()];
    work.done.wait();
    work.u.resize(u.size());
    work.v.resize(v.size());
    tbb::parallel_for(parts_of(u.size()), [&](const PixelPart& part) {
        std::copy(u.begin() + part.begin(), u.begin() + part.end(), work.u.begin() + part.begin());
        std::copy(v.begin() + part.begin(), v.begin() + part.end(), work.v.begin() + part.begin());
    });
    last_ = work.done = work.lane->run(
        "write", {}, [this, &work, pair, before = last_] { write_files(pair, work.u, work.v, before); });
}

void FlowFolder::wait() { last_.wait(); }

void FlowFolder::write_files(std::int64_t pair, std::span<const float> u, std::span<const float> v,
                             const headrace::Event& before) const {
    std::optional<program::HiddenFile> flo, png;
    std::exception_ptr failure;
    try {
        flo.emplace(file_of(folder_, pair, "flo"), encode_flo(size_, u, v));
        png.emplace(file_of(folder_, pair, "png"), encode_png(size_, u, v, longest_));
    } catch (...) {
        failure = std::current_exception();
    }
    before.wait(); // what failed before goes first
    if (flo) flo->show();
    if (failure) std::rethrow_exception(failure);
    png->show();
}

FlowPictures::FlowPictures(video::FrameNames names, Size size, float longest)
    : names_(std::move(names)), size_(size), longest_(longest) {
    const std::string first = names_.name_of(0);
    if (!first.ends_with(".png")) program::refuse(first + ": pictures are written as .png");
    program::check_writable(first);
}

void FlowPictures::write(std::int64_t pair, std::span<const float> u, std::span<const float> v) {
    program::write_whole(names_.name_of(pair), encode_png(size_, u, v, longest_));
}

FlowVideo::FlowVideo(const std::string& file, Size size, float longest, const std::string& rate)
    : longest_(longest),
      file_(file),
      format_(format_of(file, size, rate)),
      rgb_(3 * size.pixels()),
      yuv_(rgb_.size()) {
    if (file != "-") program::check_overwritable(file);
}

void FlowVideo::write(std::int64_t, std::span<const float> u, std::span<const float> v) {
    colour(u, v, longest_, rgb_);
    to_yuv(rgb_, yuv_);
    if (!stream_) stream_.emplace(file_, format_);
    stream_->write({}, yuv_);
}

} // namespace optical_flow
