// apps/video/picture.hpp - pictures in files: PNG, JPEG, PGM and PPM.
#pragma once
#include "video/byte_stream.hpp"
#include "video/size.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace video {

/// What a picture consists of: rows from top to bottom without gaps.
struct Samples {
    std::span<const std::uint8_t> bytes;
    int channels;                         ///< 1: grey; 3: red, green, blue; 2 and 4: and opacity
    int maximum;                          ///< the brightest; beyond 255, a sample has two bytes
    std::endian order = std::endian::big; ///< of these
};

/// A picture of which the header has been read.
///
/// Errors   invalid_argument if it is broken; names the file
/// Threads  one at a time
class Picture {
public:
    virtual ~Picture() = default;
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;

    [[nodiscard]] virtual Size size() const = 0;
    /// What of `samples` takes long, beforehand.
    virtual void decode() {}
    /// All of it, as the file stores it; they live as long as this.
    [[nodiscard]] virtual Samples samples() = 0;

protected:
    Picture() = default;
};

/// What the file's first bytes say it is.
/// Errors    not_found, invalid_argument if it cannot be opened, is broken or no such picture
[[nodiscard]] std::unique_ptr<Picture> open_picture(const std::string& file);
/// The same of a file that is open.
[[nodiscard]] std::unique_ptr<Picture> open_picture(video::ByteInput& input, const std::string& file);

enum class Opacity : std::uint8_t { left_out, kept };

/// From the file's bytes. 8 and 16 bits, grey, RGB and palettes; fewer bits too.
[[nodiscard]] std::unique_ptr<Picture> open_png(const std::string& file, std::string bytes,
                                                Opacity opacity = Opacity::left_out);

/// From the file's bytes: baseline and progressive JPEG of 8 bits, grey or in colours, whose RGB are those of
/// JFIF. A file that ends early, or of which anything had to be guessed, is broken. CMYK is refused.
/// Source  ITU-T T.871
[[nodiscard]] std::unique_ptr<Picture> open_jpeg(const std::string& file, std::string bytes);

/// The bytes of a PGM's or PPM's first picture with its header, of which `first` is the beginning.
/// Errors    invalid_argument if the header is broken or longer than `first`
[[nodiscard]] std::size_t pnm_bytes(const std::string& file, std::string_view first);

/// From the file's bytes: binary PGM (P5) or PPM (P6). Of several pictures in one file, the first.
/// Source    Poskanzer et al., Netpbm: pgm(5), ppm(5)
[[nodiscard]] std::unique_ptr<Picture> open_pnm(const std::string& file, std::string bytes);

} // namespace video
