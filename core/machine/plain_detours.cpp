#include "machine/plain_detours.hpp"

#include <optional>

namespace idlewave::machine {

namespace {

constexpr std::size_t most_digits = 15;
constexpr std::size_t most_decimals = 3;

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

/// Takes up to `most` digits off the beginning of `text`, and appends them to `number`. Returns how many they are.
std::size_t take_digits(std::string_view& text, std::size_t most, Time& number) {
    std::size_t count = 0;
    for (; count < most && count < text.size() && is_digit(text[count]); ++count) {
        number = number * 10 + (text[count] - '0');
    }
    text.remove_prefix(count);
    return count;
}

bool take(std::string_view& text, char character) {
    if (text.empty() || text.front() != character) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

/// Takes a number of ns off the beginning of `text`. Returns it in ps.
std::optional<Time> take_time(std::string_view& text) {
    Time number = 0;
    if (take_digits(text, most_digits, number) == 0) {
        return std::nullopt;
    }
    std::size_t decimals = 0;
    if (take(text, '.')) {
        decimals = take_digits(text, most_decimals, number);
        if (decimals == 0) {
            return std::nullopt;
        }
    }
    for (; decimals < most_decimals; ++decimals) {
        number *= 10;
    }
    return number;
}

/// Takes the end of a line off the beginning of `text`.
bool take_line_end(std::string_view& text) {
    take(text, '\r');
    return take(text, '\n');
}

}  // namespace

PlainDetours read_plain_detours(std::string_view text) {
    PlainDetours read;
    std::string_view rest = text;
    while (true) {
        const std::optional<Time> start = take_time(rest);
        if (!start || !take(rest, ',')) {
            return read;
        }
        const std::optional<Time> length = take_time(rest);
        if (!length || !take_line_end(rest)) {
            return read;
        }
        read.starts.push_back(*start);
        read.lengths.push_back(*length);
        read.bytes = text.size() - rest.size();
    }
}

}  // namespace idlewave::machine
