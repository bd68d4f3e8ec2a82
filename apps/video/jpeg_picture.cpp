// apps/video/jpeg_picture.cpp - JPEG by libjpeg; see picture.hpp.
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include <jpeglib.h> // needs <cstddef> and <cstdio> before it

namespace video {
namespace {

/// What libjpeg says when it fails. It jumps then, over nothing that has a destructor.
struct JpegFailure {
    jpeg_error_mgr calls; ///< first: libjpeg has the address of this one
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX] = "";

    [[noreturn]] static void on_error(j_common_ptr jpeg) {
        auto& failure = *reinterpret_cast<JpegFailure*>(jpeg->err);
        failure.calls.format_message(jpeg, failure.message);
        std::longjmp(failure.back, 1);
    }
    /// Warnings are about what is broken and had to be guessed: errors here. Other messages have levels from
    /// 0.
    static void on_message(j_common_ptr jpeg, int level) {
        if (level < 0) on_error(jpeg);
    }
};

/// A few bytes can hold a scan of a large picture, and a small file thousands of them.
struct Scans {
    jpeg_progress_mgr calls; ///< first: libjpeg has the address of this one

    static void on_progress(j_common_ptr jpeg) {
        constexpr int most = 500; // encoders write ten or so
        if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= most) return;
        auto& failure = *reinterpret_cast<JpegFailure*>(jpeg->err);
        std::snprintf(failure.message, sizeof failure.message, "it has more than %d scans", most);
        std::longjmp(failure.back, 1);
    }
};

/// The decompressor and what it reads.
struct JpegReader {
    JpegReader() {
        jpeg.err = jpeg_std_error(&failure.calls);
        failure.calls.error_exit = JpegFailure::on_error;
        failure.calls.emit_message = JpegFailure::on_message;
    }
    ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
    JpegReader(const JpegReader&) = delete; // libjpeg holds its address
    JpegReader& operator=(const JpegReader&) = delete;

    JpegFailure failure{};
    Scans scans{{Scans::on_progress, 0, 0, 0, 0}};
    jpeg_decompress_struct jpeg{};
};

// False: see the message.

bool read_jpeg_header(JpegReader& reader, const std::string& bytes) {
    if (setjmp(reader.failure.back) != 0) return false;
    jpeg_create_decompress(&reader.jpeg);
    reader.jpeg.progress = &reader.scans.calls;
    reader.jpeg.mem->max_memory_to_use = long{1}
                                         << 30; // for progressive ones; libjpeg-turbo swaps nothing out
    jpeg_mem_src(&reader.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&reader.jpeg, TRUE);
    return true;
}

bool start_jpeg(JpegReader& reader) {
    if (setjmp(reader.failure.back) != 0) return false;
    jpeg_start_decompress(&reader.jpeg);
    return true;
}

bool read_jpeg_rows(JpegReader& reader, std::uint8_t* to, std::size_t stride) {
    if (setjmp(reader.failure.back) != 0) return false;
    while (reader.jpeg.output_scanline < reader.jpeg.output_height) {
        JSAMPROW row = to + stride * reader.jpeg.output_scanline;
        jpeg_read_scanlines(&reader.jpeg, &row, 1);
    }
    jpeg_finish_decompress(&reader.jpeg);
    return true;
}

class JpegPicture final : public Picture {
public:
    JpegPicture(const std::string& file, std::string bytes) : file_(file), bytes_(std::move(bytes)) {
        if (!read_jpeg_header(reader_, bytes_)) fail(reader_.failure.message);
        const J_COLOR_SPACE stored = reader_.jpeg.jpeg_color_space;
        if (stored != JCS_GRAYSCALE && stored != JCS_YCbCr && stored != JCS_RGB)
            throw headrace::Error{headrace::ErrorKind::invalid_argument,
                                  file_ + ": is a JPEG in CMYK or other inks; convert it to RGB"};
        reader_.jpeg.out_color_space = stored == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
        // Nothing has less than a few bits for 8 x 8 pixels; without this, a few bytes could ask for 13 GB.
        constexpr std::size_t best_ratio = 4096;
        if (size().pixels() > best_ratio * bytes_.size()) fail("ends too early");
    }

    Size size() const override {
        return {static_cast<int>(reader_.jpeg.image_width), static_cast<int>(reader_.jpeg.image_height)};
    }
    void decode() override {
        if (!samples_.empty()) return;
        if (!start_jpeg(reader_)) fail(reader_.failure.message);
        const std::size_t stride =
            std::size_t{reader_.jpeg.output_width} * static_cast<std::size_t>(reader_.jpeg.output_components);
        samples_.resize(stride * reader_.jpeg.output_height);
        if (!read_jpeg_rows(reader_, samples_.data(), stride)) fail(reader_.failure.message);
        bytes_ = {};
    }
    Samples samples() override {
        decode();
        return {samples_, reader_.jpeg.output_components, 255};
    }

private:
    [[noreturn]] void fail(const char* why) const {
        throw headrace::Error{headrace::ErrorKind::invalid_argument, file_ + ": the JPEG is broken: " + why};
    }

    const std::string file_;
    std::string bytes_; ///< until they are decoded
    JpegReader reader_;
    std::vector<std::uint8_t> samples_{}; ///< empty: they are not decoded
};

} // namespace

std::unique_ptr<Picture> open_jpeg(const std::string& file, std::string bytes) {
    return std::make_unique<JpegPicture>(file, std::move(bytes));
}

} // namespace video
