// apps/video/pnm_picture.cpp - binary PGM and PPM; see picture.hpp.
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <string_view>

namespace video {
namespace {

/// White space, as Netpbm has it.
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// What stands before the samples. Errors: invalid_argument
class Header {
public:
    Header(const std::string& file, std::string_view text) : file_(file), text_(text) {}

    /// The next number, after blanks and comments: 1 to 65535.
    int number(const char* of_what) {
        skip_blanks();
        int value = 0;
        const std::size_t begin = at_;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            value = 10 * value + (text_[at_] - '0');
            if (value > longest_side) break;
        }
        if (at_ == begin || value < 1 || value > longest_side)
            fail(std::string("its header needs a ") + of_what + " from 1 to " + std::to_string(longest_side));
        return value;
    }
    /// Where samples begin: one blank behind the last number.
    std::size_t end() {
        if (at_ == text_.size() || !is_blank(text_[at_])) fail("its header does not end");
        return at_ + 1;
    }
    [[noreturn]] void fail(const std::string& why) const {
        throw headrace::Error{headrace::ErrorKind::invalid_argument, file_ + ": " + why};
    }

private:
    void skip_blanks() {
        bool in_comment = false;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '#') in_comment = true;
            if (c == '\n' || c == '\r') in_comment = false;
            if (!in_comment && !is_blank(c)) return;
        }
    }

    const std::string& file_;
    std::string_view text_;
    std::size_t at_ = 2; ///< behind P5 or P6
};

class PnmPicture final : public Picture {
public:
    PnmPicture(const std::string& file, std::string bytes)
        : bytes_(std::move(bytes)), channels_(bytes_[1] == '6' ? 3 : 1) {
        Header header(file, bytes_);
        size_.width = header.number("width");
        size_.height = header.number("height");
        maximum_ = header.number("maximum");
        first_ = header.end();
        promised_ = size_.pixels() * static_cast<std::size_t>(channels_) * (maximum_ > 255 ? 2 : 1);
        if (bytes_.size() - first_ < promised_)
            header.fail("ends after " + std::to_string(bytes_.size() - first_) + " of its " +
                        std::to_string(promised_) + " bytes of samples");
    }

    Size size() const override { return size_; }
    Samples samples() override {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(bytes_.data());
        return {{bytes + first_, promised_}, channels_, maximum_};
    }

private:
    const std::string bytes_;
    int channels_, maximum_ = 0;
    Size size_;
    std::size_t first_ = 0, promised_ = 0; ///< of the samples' bytes: where they begin, how many there are
};

} // namespace

std::unique_ptr<Picture> open_pnm(const std::string& file, std::string bytes) {
    return std::make_unique<PnmPicture>(file, std::move(bytes));
}

} // namespace video
