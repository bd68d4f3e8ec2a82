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

/// What it says.
struct Promise {
    Size size;
    int channels, maximum;
    std::size_t first, bytes; ///< of the samples: where they begin, how many bytes they have
};

Promise promise_of(const std::string& file, std::string_view text) {
    Header header(file, text);
    Promise promise{};
    promise.channels = text[1] == '6' ? 3 : 1;
    promise.size.width = header.number("width");
    promise.size.height = header.number("height");
    promise.maximum = header.number("maximum");
    promise.first = header.end();
    promise.bytes =
        promise.size.pixels() * static_cast<std::size_t>(promise.channels) * (promise.maximum > 255 ? 2 : 1);
    return promise;
}

class PnmPicture final : public Picture {
public:
    PnmPicture(const std::string& file, std::string bytes)
        : bytes_(std::move(bytes)), promise_(promise_of(file, bytes_)) {
        if (bytes_.size() - promise_.first < promise_.bytes)
            throw headrace::Error{headrace::ErrorKind::invalid_argument,
                                  file + ": ends after " + std::to_string(bytes_.size() - promise_.first) +
                                      " of its " + std::to_string(promise_.bytes) + " bytes of samples"};
    }

    Size size() const override { return promise_.size; }
    Samples samples() override {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(bytes_.data());
        return {{bytes + promise_.first, promise_.bytes}, promise_.channels, promise_.maximum};
    }

private:
    const std::string bytes_;
    const Promise promise_;
};

} // namespace

std::size_t pnm_bytes(const std::string& file, std::string_view first) {
    const Promise promise = promise_of(file, first);
    return promise.first + promise.bytes;
}

std::unique_ptr<Picture> open_pnm(const std::string& file, std::string bytes) {
    return std::make_unique<PnmPicture>(file, std::move(bytes));
}

} // namespace video
