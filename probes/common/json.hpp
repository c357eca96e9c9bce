// JSON as the probes print it for programs: one line, keys in the order in which they were added.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace idlewave::probe::json {

// A value that is JSON already.
struct Text {
    std::string text;
};

inline Text null() {
    return {"null"};
}

inline Text value(const Text& ready) {
    return ready;
}

inline Text value(bool truth) {
    return {truth ? "true" : "false"};
}

template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
Text value(Integer number) {
    return {std::to_string(number)};
}

// The shortest text that is read as the same number. Infinity becomes null, because JSON has none.
inline Text value(double number) {
    if (!std::isfinite(number)) return null();
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
    return {std::string(text.data(), end.ptr)};
}

inline Text value(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += {'\\', c};
        } else if (static_cast<unsigned char>(c) < ' ') {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
            result += escape.data();
        } else {
            result += c;
        }
    }
    return {result + '"'};
}

inline Text value(const std::string& text) {
    return value(std::string_view(text));
}

inline Text value(const char* text) {
    return value(std::string_view(text));
}

template <class Item>
Text value(const std::vector<Item>& items) {
    std::string result = "[";
    for (std::size_t i = 0; i < items.size(); ++i) result += (i == 0 ? "" : ", ") + value(items[i]).text;
    return {result + "]"};
}

class Object {
  public:
    template <class Value>
    Object& add(std::string_view key, const Value& what) {
        body_ += (body_.empty() ? "" : ", ") + value(key).text + ": " + value(what).text;
        return *this;
    }

    // Appends all entries of another object.
    Object& append(const Object& other) {
        body_ += (body_.empty() || other.body_.empty() ? "" : ", ") + other.body_;
        return *this;
    }

    Text text() const { return {"{" + body_ + "}"}; }

  private:
    std::string body_;
};

inline Text value(const Object& object) {
    return object.text();
}

}  // namespace idlewave::probe::json
