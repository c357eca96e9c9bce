// Enough of JSON to write a summary.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace idlewave::network {

inline std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
}

inline std::string json_number(double value, int digits = 3) {
    if (!std::isfinite(value)) return "null";
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

template <class T, class ToText>
std::string json_list(const std::vector<T>& values, ToText to_text) {
    std::string result = "[";
    for (std::size_t i = 0; i < values.size(); ++i) result += (i > 0 ? ", " : "") + to_text(values[i]);
    return result + "]";
}

inline std::string json_list(const std::vector<int>& values) {
    return json_list(values, [](int v) { return std::to_string(v); });
}

// An object of one line.
class JsonObject {
  public:
    JsonObject& raw(const std::string& key, const std::string& value) {
        text_ += (text_.empty() ? "" : ", ") + quoted(key) + ": " + value;
        return *this;
    }
    JsonObject& text(const std::string& key, const std::string& value) { return raw(key, quoted(value)); }
    JsonObject& number(const std::string& key, double value, int digits = 3) {
        return raw(key, json_number(value, digits));
    }
    JsonObject& integer(const std::string& key, long long value) { return raw(key, std::to_string(value)); }
    JsonObject& truth(const std::string& key, bool value) { return raw(key, value ? "true" : "false"); }
    JsonObject& add(const JsonObject& other) {
        text_ += (text_.empty() || other.text_.empty() ? "" : ", ") + other.text_;
        return *this;
    }
    std::string str() const { return "{" + text_ + "}"; }

  private:
    std::string text_;
};

}  // namespace idlewave::network
