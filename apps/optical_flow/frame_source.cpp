// apps/optical_flow/frame_source.cpp - see frame_source.hpp.
#include "frame_source.hpp"
#include "brightness.hpp"
#include "generated_frames.hpp"
#include "program/numbers.hpp"
#include "program/used_files.hpp"
#include "video/frame_names.hpp"
#include "video/frame_stream.hpp"
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace optical_flow {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using video::FrameNames;

class PictureSource final : public FrameSource {
public:
    /// `first`: the first of them, if it has been opened.
    explicit PictureSource(std::vector<std::string> files, video::ByteInput* first = nullptr)
        : files_(std::move(files)) {
        for (const std::string& file : files_) { // better now than after hours of work
            program::note_input(file);
            const bool is_there = ::access(file.c_str(), R_OK) == 0;
            if (is_there && !std::filesystem::is_directory(file)) continue;
            const int code = is_there ? EISDIR : errno;
            throw Error{ErrorKind::not_found, file + ": cannot be read: " + std::strerror(code)}.with_code(
                code);
        }
        first_ = first != nullptr ? video::open_picture(*first, files_.front())
                                  : video::open_picture(files_.front());
        size_ = first_->size();
    }
    ~PictureSource() override {
        for (const Decoding& each : under_way_) static_cast<void>(each.done.outcome());
    }

    Size size() const override { return size_; }
    std::optional<std::int64_t> frames() const override { return std::ssize(files_); }
    bool read(std::span<float> brightness) override {
        if (next_ == files_.size()) return false;
        begin_decoding();
        const std::unique_ptr<video::Picture> picture = next_picture();
        const std::string& file = files_[next_++];
        if (picture->size() != size_)
            throw Error{ErrorKind::invalid_argument, file + ": has " + text_of(picture->size()) +
                                                         " pixels, and " + files_.front() + " has " +
                                                         text_of(size_)};
        convert(picture->samples(), size_, brightness);
        return true;
    }

    bool skip(std::int64_t frames) override {
        const auto left = static_cast<std::int64_t>(files_.size() - next_);
        next_ += static_cast<std::size_t>(std::min(frames, left));
        while (!under_way_.empty() && under_way_.front().number < next_) {
            static_cast<void>(under_way_.front().done.outcome());
            under_way_.pop_front();
        }
        return frames <= left;
    }

    /// Samples of two bytes in three channels, and what they are decoded from.
    headrace::Bytes bytes_ahead() const override { return headrace::Bytes{2} * 2 * 3 * size_.pixels(); }
    void decode_ahead(const std::vector<headrace::HostLane*>& lanes, std::int64_t frames) override {
        lanes_ = lanes;
        end_ = std::min<std::uint64_t>(files_.size(), static_cast<std::uint64_t>(frames));
    }

private:
    struct Decoding {
        std::size_t number; ///< of the file
        std::shared_ptr<std::unique_ptr<video::Picture>> picture;
        headrace::Event done;
    };

    void begin_decoding() {
        begun_ = std::max(begun_, next_ + 1);
        for (; begun_ < end_ && begun_ <= next_ + lanes_.size(); ++begun_) {
            const std::string& file = files_[begun_];
            std::error_code ignored;
            if (!std::filesystem::is_regular_file(file, ignored)) continue;
            auto picture = std::make_shared<std::unique_ptr<video::Picture>>();
            const auto decode = [picture, file] {
                try {
                    *picture = video::open_picture(file);
                    (*picture)->decode();
                } catch (const Error&) {
                    *picture = nullptr; // when it is its turn, it is opened again and says so
                }
            };
            under_way_.push_back(
                {begun_, picture, lanes_[begun_ % lanes_.size()]->run("decode", {}, decode)});
        }
    }
    /// Opened once, if it is a pipe.
    std::unique_ptr<video::Picture> next_picture() {
        if (next_ == 0) return std::move(first_);
        if (!under_way_.empty() && under_way_.front().number == next_) {
            const Decoding found = under_way_.front();
            under_way_.pop_front();
            found.done.wait();
            if (*found.picture) return std::move(*found.picture);
        }
        return video::open_picture(files_[next_]);
    }

    const std::vector<std::string> files_;
    std::unique_ptr<video::Picture> first_; ///< opened for its size
    Size size_;
    std::size_t next_ = 0;
    std::vector<headrace::HostLane*> lanes_{};
    std::size_t end_ = 0;   ///< of files that may be decoded ahead
    std::size_t begun_ = 0; ///< of those, files up to here have been, unless they are pipes
    std::deque<Decoding> under_way_{};
};

class VideoSource final : public FrameSource {
public:
    explicit VideoSource(std::unique_ptr<video::ByteInput> bytes)
        : stream_(std::move(bytes), nullptr), frame_(stream_.format().bytes()) {}

    Size size() const override {
        const video::Plane& luma = stream_.format().planes.plane[0];
        return {luma.columns, luma.rows};
    }
    std::string rate() const override { return stream_.format().rate; }
    std::string note() const override {
        const std::string order = text_of(stream_.format().interlacing);
        return order.empty() ? ""
                             : "is interlaced (" + order +
                                   "): frames are taken whole, and lines that were seen at different "
                                   "times look like motion; deinterlace it first (ffmpeg -vf yadif)";
    }
    bool read(std::span<float> brightness) override {
        video::FrameHeader header;
        if (!stream_.read(header, frame_)) return false;
        const video::FrameFormat& format = stream_.format();
        const std::size_t bytes = size().pixels() * static_cast<std::size_t>(format.sample_bytes());
        convert({std::span(frame_).first(bytes), 1, format.maximum, std::endian::little}, size(), brightness);
        return true;
    }

    bool skip(std::int64_t frames) override {
        video::FrameHeader header;
        for (; frames > 0; --frames)
            if (!stream_.read(header, frame_)) return false;
        return true;
    }

private:
    video::StreamSource stream_;
    std::vector<std::uint8_t> frame_;
};

class MemorySource final : public FrameSource {
public:
    MemorySource(std::int64_t frames, Size size) : frames_(frames), size_(size) {
        constexpr std::int64_t most = 4; // 8K frames have 133 MB each
        for (std::int64_t i = 0; i < std::min(frames, most); ++i)
            generate(i, size, kept_.emplace_back(size.pixels()));
    }

    Size size() const override { return size_; }
    std::optional<std::int64_t> frames() const override { return frames_; }
    bool read(std::span<float> brightness) override {
        if (next_ == frames_) return false;
        HEADRACE_ASSERT(brightness.size() == size_.pixels());
        const std::vector<float>& frame = kept_[turn(next_++)];
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, frame.size(), 1 << 18),
                          [&](const tbb::blocked_range<std::size_t>& part) {
                              std::copy(frame.begin() + static_cast<std::ptrdiff_t>(part.begin()),
                                        frame.begin() + static_cast<std::ptrdiff_t>(part.end()),
                                        brightness.begin() + static_cast<std::ptrdiff_t>(part.begin()));
                          });
        return true;
    }

    bool skip(std::int64_t frames) override {
        const std::int64_t left = frames_ - next_;
        next_ += std::min(frames, left);
        return frames <= left;
    }

private:
    /// 0 1 2 3 2 1 0 1 ...: neighbours stay neighbours.
    [[nodiscard]] std::size_t turn(std::int64_t number) const {
        const auto last = static_cast<std::int64_t>(kept_.size()) - 1;
        if (last == 0) return 0;
        const std::int64_t place = number % (2 * last);
        return static_cast<std::size_t>(std::min(place, 2 * last - place));
    }

    const std::int64_t frames_;
    const Size size_;
    std::int64_t next_ = 0;
    std::vector<std::vector<float>> kept_;
};

constexpr std::string_view memory = "memory:";

std::unique_ptr<FrameSource> open_memory(const std::string& name, Size generated) {
    constexpr std::int64_t most = 1'000'000'000'000;
    const auto frames =
        program::whole<std::int64_t>(std::string(memory), name.substr(memory.size()), 1, most);
    for (const int side : {generated.width, generated.height})
        if (side < 1 || side > longest_side)
            program::refuse("generated frames of " + text_of(generated) + ": each side takes 1 to " +
                            std::to_string(longest_side) + " pixels");
    return std::make_unique<MemorySource>(frames, generated);
}

constexpr std::string_view film_magic = "YUV4MPEG2";
bool is_film(const std::string& name) { return name == "-" || name.ends_with(".y4m"); }
bool is_memory(const std::string& name) { return name.starts_with(memory); }

} // namespace

void FrameSource::decode_ahead(const std::vector<headrace::HostLane*>&, std::int64_t) {}

bool FrameSource::skip(std::int64_t frames) {
    std::vector<float> passed(frames > 0 ? size().pixels() : 0);
    for (; frames > 0; --frames)
        if (!read(passed)) return false;
    return true;
}

std::vector<std::string> input_names(const std::vector<std::string>& words, std::optional<std::int64_t> start,
                                     std::int64_t most) {
    std::vector<std::string> names;
    bool has_pattern = false;
    const auto add = [&](const std::string& name) {
        const auto pattern = FrameNames::of_input(name);
        has_pattern = has_pattern || pattern;
        if (!pattern) return names.push_back(name);
        const std::vector<std::string> files = pattern->files(start, most);
        names.insert(names.end(), files.begin(), files.end());
    };
    for (const std::string& word : words) {
        std::error_code ignored;
        if (!word.empty() && std::filesystem::exists(word, ignored)) { // perhaps with commas of its own
            names.push_back(word);
            continue;
        }
        std::size_t begin = 0, end = 0;
        do {
            end = std::min(word.find(',', begin), word.size());
            if (end == begin) program::refuse("\"" + word + "\": names no file, or has a comma too many");
            add(word.substr(begin, end - begin));
            begin = end + 1;
        } while (end < word.size());
    }
    if (start && !has_pattern)
        program::refuse("--start " + std::to_string(*start) +
                        ": no --input has a number, such as frame_%04d.png");
    return names;
}

std::unique_ptr<FrameSource> open_frames(const std::vector<std::string>& names, Size generated) {
    HEADRACE_ASSERT(!names.empty());
    const std::string& first = names.front();
    if (names.size() == 1 && is_memory(first)) return open_memory(first, generated);
    if (names.size() == 1) {
        auto bytes = std::make_unique<video::ByteInput>(first);
        if (is_film(first) || bytes->peek(film_magic.size()) == film_magic)
            return std::make_unique<VideoSource>(std::move(bytes));
        return std::make_unique<PictureSource>(names, bytes.get());
    }
    for (const std::string& name : names)
        if (is_film(name) || is_memory(name))
            program::refuse(name + (is_film(name) ? ": is a film" : ": is a sequence of generated frames") +
                            ", which is an input of its own; only pictures go together");
    return std::make_unique<PictureSource>(names);
}

} // namespace optical_flow
