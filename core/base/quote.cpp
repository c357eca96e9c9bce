#include "base/quote.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace idlewave {
namespace {

constexpr std::size_t most_shown = 200;
constexpr std::size_t most_of_name = 1000;

/// A character of a text: its code point and its length in bytes. A byte that begins no valid character is returned as
/// it is, with `valid` false.
struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 1;
    bool valid = true;
};

Character next(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const std::uint32_t first = byte(0);
    if (first < 0x80) {
        return {first, 1, true};
    }
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    std::uint32_t code = first & (0x7fU >> length);
    bool valid = first >= 0xc2 && first <= 0xf4 && length <= text.size();
    for (std::size_t i = 1; valid && i < length; ++i) {
        valid = (byte(i) & 0xc0) == 0x80;
        code = code << 6 | (byte(i) & 0x3f);
    }
    valid = valid && code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return valid ? Character{code, length, true} : Character{first, 1, false};
}

/// Whether a character is a control or only formats: Unicode's categories Cc, Zl and Zp, and those of Cf that change
/// how other characters look.
bool unseen(std::uint32_t code) {
    constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 9> ranges{{{0x00, 0x1f},
                                                                             {0x7f, 0x9f},
                                                                             {0xad, 0xad},
                                                                             {0x61c, 0x61c},
                                                                             {0x200b, 0x200f},
                                                                             {0x2028, 0x202e},
                                                                             {0x2060, 0x206f},
                                                                             {0xfeff, 0xfeff},
                                                                             {0xe0000, 0xe007f}}};
    for (const auto& [first, last] : ranges) {
        if (code >= first && code <= last) {
            return true;
        }
    }
    return false;
}

void write_out(std::string& result, std::uint32_t code) {
    std::array<char, 12> text{};
    const char* form = code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x";
    std::snprintf(text.data(), text.size(), form, code);
    result += text.data();
}

/// At most `most` characters of `text`, and whether these are all.
std::pair<std::string, bool> written(std::string_view text, std::size_t most, std::string_view allowed) {
    std::string result;
    for (; !text.empty() && most > 0; --most) {
        const Character c = next(text);
        if (!c.valid || (unseen(c.code) && allowed.find(text.front()) == std::string_view::npos)) {
            write_out(result, c.code);
        } else {
            result += text.substr(0, c.bytes);
        }
        text.remove_prefix(c.bytes);
    }
    return {result, text.empty()};
}

}  // namespace

std::string printable(std::string_view text) {
    return written(text, text.size(), "\n\t").first;
}

std::string shown(std::string_view text) {
    const auto [result, whole] = written(text, most_shown, {});
    return whole ? result : result + "…";
}

std::string quote(std::string_view text) {
    std::string quoted(1, '\'');
    quoted += shown(text);
    quoted += '\'';
    return quoted;
}

std::string file_name(std::string_view path) {
    const bool whole = path.size() <= most_of_name;
    const std::string_view end = whole ? path : path.substr(path.size() - most_of_name);
    return (whole ? "" : "…") + written(end, end.size(), {}).first;
}

}  // namespace idlewave
