// apps/video/picture_stream.cpp - see picture_stream.hpp.
#include "video/picture_stream.hpp"
#include "program/numbers.hpp"
#include "program/output_file.hpp"
#include "program/png.hpp"
#include "program/used_files.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace video {
namespace {

FrameFormat format_of(Size size, const Samples& samples) {
    FrameFormat format;
    for (int channel = 0; channel < samples.channels; ++channel)
        format.planes.plane[channel] = {size.height, size.width};
    format.maximum = samples.maximum;
    return format;
}

std::size_t channels_of(const FrameFormat& format) {
    return static_cast<std::size_t>(
        std::ranges::count_if(format.planes.plane, [](const Plane& plane) { return plane.rows > 0; }));
}

Size size_of(const FrameFormat& format) {
    return {format.planes.plane[0].columns, format.planes.plane[0].rows};
}

std::string text_of(const FrameFormat& format) {
    return text_of(size_of(format)) + (channels_of(format) == 3 ? ", RGB" : ", grey") + " up to " +
           std::to_string(format.maximum);
}

/// Between pixels whose channels lie beside each other, in a file's byte order, and planes in a frame's:
/// visit(place in the file, place in the frame) for each byte.
template <class Visit>
void for_bytes(const FrameFormat& format, const Visit& visit) {
    const std::size_t pixels = size_of(format).pixels(), channels = channels_of(format);
    const auto bytes = static_cast<std::size_t>(format.sample_bytes());
    for (std::size_t channel = 0; channel < channels; ++channel)
        for (std::size_t i = 0; i < pixels; ++i)
            for (std::size_t byte = 0; byte < bytes; ++byte) // big end first there, little end first here
                visit((i * channels + channel) * bytes + byte,
                      (channel * pixels + i) * bytes + bytes - 1 - byte);
}

bool is_png(const std::string& name) { return name.ends_with(".png"); }

} // namespace

PictureSource::PictureSource(const FrameNames& names, std::optional<std::int64_t> start, std::int64_t most)
    : files_(names.files(start, most)),
      first_number_(*names.number_of(std::filesystem::path(files_.front()).filename().string())),
      first_(open_picture(files_.front())),
      format_(format_of(first_->size(), first_->samples())) {
    for (const std::string& file : files_) program::note_input(file);
}

bool PictureSource::read(FrameHeader& header, Pixels pixels) {
    if (next_ == files_.size()) return false;
    header.text.clear();
    const std::unique_ptr<Picture> picture = next_ == 0 ? std::move(first_) : open_picture(files_[next_]);
    const Samples samples = picture->samples();
    const FrameFormat format = format_of(picture->size(), samples);
    if (size_of(format) != size_of(format_) || channels_of(format) != channels_of(format_) ||
        format.maximum != format_.maximum)
        program::refuse(files_[next_] + ": is " + text_of(format) + "; " + files_.front() + " is " +
                        text_of(format_));
    for_bytes(format_,
              [&](std::size_t in_file, std::size_t in_frame) { pixels[in_frame] = samples.bytes[in_file]; });
    ++next_;
    return true;
}

PictureSink::PictureSink(FrameNames names, std::int64_t first_number, const FrameFormat& format)
    : names_(std::move(names)), number_(first_number), format_(format), samples_(format.bytes(), '\0') {
    const std::string first = names_.name_of(number_);
    const std::size_t channels = channels_of(format_);
    const Plane *const planes = format_.planes.plane, last = planes[channels - 1];
    if ((channels != 1 && channels != 3) || format_.is_y4m() || last.rows != planes[0].rows ||
        last.columns != planes[0].columns)
        program::refuse(first +
                        ": pictures are written of pictures; a film's planes go to a .y4m or .yuv file");
    const char* const pnm = channels == 1 ? ".pgm" : ".ppm";
    if (!is_png(first) && !first.ends_with(pnm))
        program::refuse(first + ": its frames are " + text_of(format_) + ", which go to .png or " + pnm);
    if (is_png(first) && format_.maximum != 255)
        program::refuse(first +
                        ": PNGs are written with 8 bits, samples up to 255; those of the frames go up to " +
                        std::to_string(format_.maximum) + "; name a " + pnm);
    program::check_writable(first);
    program::note_outputs("--output", names_.folder(), [names = names_](const std::string& name) {
        return names.number_of(name).has_value();
    });
}

void PictureSink::write(const FrameHeader&, ConstPixels pixels) {
    for_bytes(format_, [&](std::size_t in_file, std::size_t in_frame) {
        samples_[in_file] = static_cast<char>(pixels[in_frame]);
    });
    const std::string name = names_.name_of(number_++);
    const Size size = size_of(format_);
    const std::size_t channels = channels_of(format_);
    if (is_png(name)) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(samples_.data());
        return program::write_whole(name,
                                    program::encode_png({.width = static_cast<std::uint32_t>(size.width),
                                                         .height = static_cast<std::uint32_t>(size.height),
                                                         .channels = static_cast<int>(channels),
                                                         .pixels = {bytes, samples_.size()},
                                                         .fast = true}));
    }
    program::write_whole(name, (channels == 1 ? "P5\n" : "P6\n") + std::to_string(size.width) + " " +
                                   std::to_string(size.height) + "\n" + std::to_string(format_.maximum) +
                                   "\n" + samples_);
}

} // namespace video
