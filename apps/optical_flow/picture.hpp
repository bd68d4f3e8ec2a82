// apps/optical_flow/picture.hpp - pictures in files: PNG, PGM and PPM.
#pragma once
#include "size.hpp"
#include "video/byte_stream.hpp"

#include <memory>
#include <span>
#include <string>

namespace optical_flow {

/// A picture of which the header has been read. Errors: io, naming the file. Threads: one at a time
class Picture {
public:
    virtual ~Picture() = default;
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;

    [[nodiscard]] virtual Size size() const = 0;
    /// What of `read` needs one processor alone, beforehand. Once, or never.
    virtual void decode() {}
    /// The whole picture, once; what brightness is: brightness.hpp.
    virtual void read(std::span<float> brightness) = 0;

protected:
    Picture() = default;
};

/// What the file's first bytes say it is.
/// Errors    not_found, invalid_argument if it cannot be opened; io if it is broken or no such picture
[[nodiscard]] std::unique_ptr<Picture> open_picture(const std::string& file);
/// The same of a file that is open.
[[nodiscard]] std::unique_ptr<Picture> open_picture(video::ByteInput& input, const std::string& file);

/// From the file's bytes. 8 and 16 bits, grey, RGB and palettes; fewer bits too. Transparency is ignored.
[[nodiscard]] std::unique_ptr<Picture> open_png(const std::string& file, std::string bytes);

/// From the file's bytes: binary PGM (P5) or PPM (P6). Of several pictures in one file, the first.
/// Source    Poskanzer et al., Netpbm: pgm(5), ppm(5)
[[nodiscard]] std::unique_ptr<Picture> open_pnm(const std::string& file, std::string bytes);

} // namespace optical_flow
