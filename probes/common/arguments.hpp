// A program's options: the name and the meaning of each, and the variable for its value. The help and the errors come
// from the same list.
#pragma once

#include <getopt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/failure.hpp"

namespace idlewave::probe {

struct CommandOption {
    std::string name;   // without the dashes
    std::string value;  // the name of its value in the help; empty: it takes none
    std::string help;
    std::function<void(const std::string& option, const std::string& text)> take;
};

struct CommandLine {
    std::string name;
    std::string purpose;
    std::vector<CommandOption> arguments;
};

namespace detail {

// A number as text, without the trailing zeros of std::to_string.
inline std::string plain(double number) {
    char text[32] = "";
    std::snprintf(text, sizeof text, "%.10g", number);
    return text;
}

}  // namespace detail

inline double number(const std::string& option, const std::string& text, double low, double high) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool whole = end != text.c_str() && *end == '\0';
    if (whole && value >= low && value <= high) return value;
    throw refused(option + ": expected a number from " + detail::plain(low) + " to " + detail::plain(high) +
                  ", found '" + text + "'");
}

inline std::int64_t integer(const std::string& option, const std::string& text, std::int64_t low, std::int64_t high) {
    const double value = number(option, text, static_cast<double>(low), static_cast<double>(high));
    if (value == std::floor(value)) return static_cast<std::int64_t>(value);
    throw refused(option + ": expected a whole number, found '" + text + "'");
}

// The following functions return what stores a value of an option, by its type.
inline auto number_to(double& place, double low, double high) {
    return [&place, low, high](const auto& option, const auto& text) { place = number(option, text, low, high); };
}

template <class Integer>
auto integer_to(Integer& place, std::int64_t low, std::int64_t high) {
    return [&place, low, high](const auto& option, const auto& text) {
        place = static_cast<Integer>(integer(option, text, low, high));
    };
}

// Whole numbers with commas between them.
inline auto integers_to(std::vector<std::int64_t>& place, std::int64_t low, std::int64_t high) {
    return [&place, low, high](const auto& option, const std::string& text) {
        place.clear();
        for (std::size_t from = 0; from <= text.size();) {
            const std::size_t comma = std::min(text.find(',', from), text.size());
            place.push_back(integer(option, text.substr(from, comma - from), low, high));
            from = comma + 1;
        }
    };
}

inline auto text_to(std::string& place) {
    return [&place](const auto&, const auto& text) { place = text; };
}

inline auto flag_to(bool& place) {
    return [&place](const auto&, const auto&) { place = true; };
}

inline std::string help_of(const CommandLine& program) {
    std::string result = "usage: " + program.name + " OPTIONS\n" + program.purpose + "\n\n";
    std::size_t widest = 0;
    const auto title = [](const CommandOption& argument) {
        std::string text = "  --" + argument.name;
        if (!argument.value.empty()) text.append(" ").append(argument.value);
        return text;
    };
    for (const CommandOption& argument : program.arguments) widest = std::max(widest, title(argument).size());
    for (const CommandOption& argument : program.arguments) {
        result += title(argument) + std::string(widest + 2 - title(argument).size(), ' ');
        for (const char c : argument.help) {
            result += c;
            if (c == '\n') result.append(widest + 2, ' ');
        }
        result += '\n';
    }
    return result;
}

// Stores every option's value. Returns false if the command line asks for help, which is then printed; in a job only
// the process with `shows_help` prints it.
inline bool parse(const CommandLine& program, int argc, char* const* argv, bool shows_help = true) {
    constexpr int help = 1;
    constexpr int first = 1000;
    std::vector<option> known;
    for (std::size_t i = 0; i < program.arguments.size(); ++i) {
        const CommandOption& argument = program.arguments[i];
        known.push_back({argument.name.c_str(), argument.value.empty() ? no_argument : required_argument, nullptr,
                         first + static_cast<int>(i)});
    }
    known.push_back({"help", no_argument, nullptr, help});
    known.push_back({nullptr, 0, nullptr, 0});
    const std::string hint = "; '" + program.name + " --help' shows the options";
    opterr = 0;
    for (int c = 0; (c = getopt_long(argc, argv, ":", known.data(), nullptr)) != -1;) {
        if (c == help) {
            if (shows_help) std::fputs(help_of(program).c_str(), stdout);
            return false;
        }
        if (c < first) {
            // optind stays at a word of one-letter options until its last letter. We have no such options.
            const bool letter = optopt > help && optopt < first;
            std::string words = letter ? std::string{'-', static_cast<char>(optopt)} : argv[optind - 1];
            words += c == ':' ? ": expected a value" : ": no such option";
            throw refused(words + hint);
        }
        const CommandOption& argument = program.arguments[static_cast<std::size_t>(c - first)];
        argument.take("--" + argument.name, optarg == nullptr ? "" : optarg);
    }
    if (optind < argc) throw refused(std::string("'") + argv[optind] + "': expected an option" + hint);
    return true;
}

}  // namespace idlewave::probe
