// apps/program/printable.cpp - see printable.hpp.
#include "program/printable.hpp"

namespace program {

std::string printable(std::string_view text) {
    std::string shown;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : ' ');
        if (byte == '\n' || byte == '\r' || byte == '\t') {
            shown += ' ';
        } else if (byte < 0x20 || byte == 0x7f) {
            shown += '?';
        } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) { // U+0080 to U+009F in UTF-8
            shown += '?';
            ++i;
        } else {
            shown += text[i];
        }
    }
    return shown;
}

} // namespace program
