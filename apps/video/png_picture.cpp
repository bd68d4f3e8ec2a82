// apps/video/png_picture.cpp - PNG by libpng's full interface; see picture.hpp.
// Its simplified one converts between gammas, and samples shall be as they are stored.
#include "program/png_failure.hpp"
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <png.h>

#include <cstring>
#include <new>
#include <string_view>
#include <vector>

namespace video {
namespace {

/// What libpng reads, and what it says when it fails.
struct Reader {
    explicit Reader(std::string_view bytes) : rest(bytes) {}
    ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
    Reader(const Reader&) = delete; // libpng holds its address
    Reader& operator=(const Reader&) = delete;

    std::string_view rest;
    program::PngFailure failure{};
    png_structp png = nullptr;
    png_infop info = nullptr;
};

void give_bytes(png_structp png, png_bytep to, std::size_t count) {
    auto& reader = *static_cast<Reader*>(png_get_io_ptr(png));
    if (reader.rest.size() < count) png_error(png, "ends too early");
    std::memcpy(to, reader.rest.data(), count);
    reader.rest.remove_prefix(count);
}

// libpng jumps back into these when it fails, over nothing that has a destructor. False: see the message.

bool read_header(Reader& reader) {
    if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
    png_set_read_fn(reader.png, &reader, give_bytes);
    png_set_user_limits(reader.png, longest_side, longest_side);
    png_read_info(reader.png, reader.info);
    return true;
}

/// Grey or RGB of 8 or 16 bits, whatever the file has, with its opacity if that is asked for.
bool expand(Reader& reader, Opacity opacity) {
    if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
    png_set_expand(reader.png);
    if (opacity == Opacity::left_out) png_set_strip_alpha(reader.png);
    png_set_interlace_handling(reader.png);
    png_read_update_info(reader.png, reader.info);
    return true;
}

bool read_rows(Reader& reader, png_bytepp rows) {
    if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
    png_read_image(reader.png, rows);
    png_read_end(reader.png, nullptr);
    return true;
}

class PngPicture final : public Picture {
public:
    PngPicture(const std::string& file, std::string bytes, Opacity opacity)
        : file_(file), bytes_(std::move(bytes)), reader_(bytes_) {
        reader_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader_.failure,
                                             program::PngFailure::on_error, program::PngFailure::on_warning);
        if (reader_.png == nullptr) throw std::bad_alloc();
        reader_.info = png_create_info_struct(reader_.png);
        if (reader_.info == nullptr) throw std::bad_alloc();
        if (!read_header(reader_)) fail(reader_.failure.message);
        // Nothing is compressed to less than a thousandth; without this, a few bytes could ask for 25 GB.
        constexpr std::size_t best_ratio = 1032;
        if (png_get_rowbytes(reader_.png, reader_.info) * png_get_image_height(reader_.png, reader_.info) >
            best_ratio * bytes_.size())
            fail("ends too early");
        if (!expand(reader_, opacity)) fail(reader_.failure.message);
    }

    Size size() const override {
        return {static_cast<int>(png_get_image_width(reader_.png, reader_.info)),
                static_cast<int>(png_get_image_height(reader_.png, reader_.info))};
    }
    void decode() override {
        if (!samples_.empty()) return;
        const std::size_t stride = png_get_rowbytes(reader_.png, reader_.info);
        const auto height = static_cast<std::size_t>(size().height);
        samples_.resize(stride * height);
        std::vector<png_bytep> rows;
        for (std::size_t y = 0; y < height; ++y) rows.push_back(samples_.data() + y * stride);
        if (!read_rows(reader_, rows.data())) fail(reader_.failure.message);
        bytes_ = {};
    }
    Samples samples() override {
        decode();
        const int channels = png_get_channels(reader_.png, reader_.info);
        const int bits = png_get_bit_depth(reader_.png, reader_.info);
        return {samples_, channels, (1 << bits) - 1};
    }

private:
    [[noreturn]] void fail(const char* why) const {
        throw headrace::Error{headrace::ErrorKind::invalid_argument, file_ + ": the PNG is broken: " + why};
    }

    const std::string file_;
    std::string bytes_; ///< until they are decoded
    Reader reader_;
    std::vector<png_byte> samples_{}; ///< empty: they are not decoded
};

} // namespace

std::unique_ptr<Picture> open_png(const std::string& file, std::string bytes, Opacity opacity) {
    return std::make_unique<PngPicture>(file, std::move(bytes), opacity);
}

} // namespace video
