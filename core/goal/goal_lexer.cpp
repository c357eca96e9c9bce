#include "goal/goal_lexer.hpp"

#include "base/error.hpp"

namespace idlewave {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view digits = "0123456789";

bool is_letter(char c) {
    return letters.find(c) != std::string_view::npos;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// `text` as a message can show it: short, and without control characters.
std::string shown(std::string_view text) {
    std::string result;
    for (const char c : text.substr(0, 40)) {
        result += (c >= ' ' && c <= '~') ? c : '?';
    }
    return "'" + result + (text.size() > 40 ? "…'" : "'");
}

}  // namespace

Lexer::Lexer(std::string_view text, const std::string& name) : text_(text), name_(name) {
    scan();
}

Token Lexer::next() {
    const Token current = token_;
    if (current.kind == TokenKind::newline) {
        ++line_;
        line_begin_ = at_;
    }
    if (current.kind != TokenKind::end) {
        scan();
    }
    return current;
}

void Lexer::fail(const Token& token, const std::string& expected) const {
    const std::string found = token.kind == TokenKind::newline ? "the end of the line"
                              : token.kind == TokenKind::end   ? "the end of the text"
                                                               : shown(token.text);
    throw InputError(name_ + ":" + std::to_string(token.line) + ":" + std::to_string(token.column) + ": expected " +
                     expected + ", found " + found);
}

Token Lexer::token(TokenKind kind, std::size_t length) const {
    return {kind, text_.substr(at_, length), line_, at_ - line_begin_ + 1};
}

void Lexer::scan() {
    pass_over();
    if (at_ >= text_.size()) {
        token_ = token(TokenKind::end, 0);
        return;
    }
    const char c = text_[at_];
    std::size_t length = 1;
    TokenKind kind = TokenKind::other;
    if (is_letter(c)) {
        kind = TokenKind::word;
        while (at_ + length < text_.size() &&
               (is_letter(text_[at_ + length]) || is_digit(text_[at_ + length]) || text_[at_ + length] == '_')) {
            ++length;
        }
    } else if (is_digit(c)) {
        kind = TokenKind::number;
        length = std::min(text_.find_first_not_of(digits, at_), text_.size()) - at_;
    } else if (c == '\n' || c == '\r') {
        kind = TokenKind::newline;
        length = c == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n' ? 2 : 1;
    } else if (c == ':') {
        kind = TokenKind::colon;
    } else if (c == '{') {
        kind = TokenKind::open;
    } else if (c == '}') {
        kind = TokenKind::close;
    } else if (c == '-') {
        kind = TokenKind::minus;
    }
    token_ = token(kind, length);
    at_ += length;
}

void Lexer::pass_over() {
    while (at_ < text_.size()) {
        if (text_[at_] == ' ' || text_[at_] == '\t') {
            ++at_;
        } else if (text_.substr(at_, 2) == "//") {
            at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
        } else if (text_.substr(at_, 2) == "/*") {
            block_comment();
        } else {
            return;
        }
    }
}

void Lexer::block_comment() {
    const std::size_t close = text_.find("*/", at_ + 2);
    if (close == std::string_view::npos) {
        fail(token(TokenKind::other, 2), "'*/' at the end of this comment");
    }
    for (std::size_t i = at_; i < close; ++i) {
        if (text_[i] == '\n') {
            ++line_;
            line_begin_ = i + 1;
        }
    }
    at_ = close + 2;
}

}  // namespace idlewave
