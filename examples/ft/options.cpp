#include "options.hpp"

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ft {
namespace {

std::optional<int> positive(const std::string& text) {
    int number = 0;
    const char* end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || read != end || number < 1) return std::nullopt;
    return number;
}

std::string not_understood(std::string_view option, std::string_view value, std::string_view expected) {
    return std::string(option) + " " + std::string(value) + ": expected " + std::string(expected);
}

// Take over one option with its value; returns what is wrong with it.
std::string take(Options& options, std::string_view option, std::string_view value) {
    if (option == "--class") {
        options.problem = value.size() == 1 ? find_problem(value[0]) : nullptr;
        return options.problem != nullptr ? "" : not_understood(option, value, "S, W, A, B, C or D");
    }
    if (option == "--grid") {
        const size_t by = value.find('x');
        const auto ty = positive(std::string(value.substr(0, by)));
        const auto tz = by == std::string_view::npos ? std::nullopt : positive(std::string(value.substr(by + 1)));
        if (!ty || !tz) return not_understood(option, value, "TYxTZ, such as 2x4");
        options.shape = {.ty = *ty, .tz = *tz};
        return {};
    }
    if (option == "--exchange") {
        const auto way = find_way(value);
        if (!way) return not_understood(option, value, "alltoall, two-sided, put, packed-put or ialltoall");
        options.way = *way;
        return {};
    }
    if (option == "--iterations") {
        const auto iterations = positive(std::string(value));
        if (!iterations) return not_understood(option, value, "a whole number from 1 on");
        options.iterations = *iterations;
        return {};
    }
    return "there is no option " + std::string(option);
}

// What is wrong with the options together.
std::string unfit(const Options& options, int ranks) {
    const Problem& problem = *options.problem;
    if (options.iterations > problem.iterations()) {
        return "class " + std::string(1, problem.name) + " has published checksums for " +
               std::to_string(problem.iterations()) + " iterations, not for " + std::to_string(options.iterations);
    }
    return reason_against(problem, options.shape, ranks);
}

}  // namespace

Options read_options(std::span<char* const> words, int ranks) {
    Options options;
    options.problem = find_problem('S');
    options.shape = {.ty = 1, .tz = ranks};
    for (size_t i = 0; i < words.size() && options.wrong.empty(); ++i) {
        const std::string_view word = words[i];
        if (word == "--json") {
            options.json = true;
        } else if (word == "--help") {
            options.help = true;
        } else if (i + 1 == words.size()) {
            options.wrong = std::string(word) + ": there is no such option without a value";
        } else {
            options.wrong = take(options, word, words[++i]);
        }
    }
    if (options.wrong.empty()) options.wrong = unfit(options, ranks);
    if (options.iterations == 0) options.iterations = options.problem == nullptr ? 0 : options.problem->iterations();
    return options;
}

const char* usage() {
    return "usage: ft [--class S|W|A|B|C|D] [--grid TYxTZ] [--exchange alltoall|two-sided|put|packed-put|ialltoall]\n"
           "          [--iterations N] [--json]\n";
}

}  // namespace ft
