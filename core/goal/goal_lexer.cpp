#include "goal/goal_lexer.hpp"

#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/quote.hpp"

namespace idlewave::goal {
namespace {

constexpr unsigned letter = 1;
constexpr unsigned digit = 2;
constexpr unsigned underscore = 4;

constexpr std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> classes{};
    for (unsigned c = 0; c < 26; ++c) {
        classes['a' + c] = letter;
        classes['A' + c] = letter;
    }
    for (unsigned c = '0'; c <= '9'; ++c) {
        classes[c] = digit;
    }
    classes['_'] = underscore;
    return classes;
}

constexpr std::array<std::uint8_t, 256> classes_of = make_classes();

bool is(char c, unsigned classes) {
    return (classes_of[static_cast<unsigned char>(c)] & classes) != 0;
}

TokenKind kind_of(char c) {
    switch (c) {
        case ':':
            return TokenKind::colon;
        case '{':
            return TokenKind::open;
        case '}':
            return TokenKind::close;
        case '-':
            return TokenKind::minus;
        default:
            return TokenKind::other;
    }
}

}  // namespace

Lexer::Lexer(GoalText text, const std::string& name) : text_(std::move(text)), name_(file_name(name)) {
    begin_ = text_.begin();
    at_ = begin_;
    end_ = text_.end();
    scan();
}

void Lexer::next() {
    if (token_.kind == TokenKind::newline) {
        ++line_;
        line_begin_ = text_.passed() + static_cast<std::uint64_t>(at_ - text_.begin());
    }
    if (token_.kind != TokenKind::end) {
        scan();
    }
}

void Lexer::split(std::size_t length) {
    at_ = begin_ + length;
    scan();
}

void Lexer::fail(const Token& token, const std::string& expected) const {
    const std::string found = token.kind == TokenKind::newline ? "the end of the line"
                              : token.kind == TokenKind::end   ? "the end of the text"
                                                               : quote(token.text);
    throw InputError(name_ + ":" + std::to_string(token.line) + ":" + std::to_string(token.column) + ": expected " +
                     expected + ", found " + found);
}

void Lexer::set_token(TokenKind kind) {
    token_.kind = kind;
    token_.text = {begin_, static_cast<std::size_t>(at_ - begin_)};
    token_.line = line_;
    token_.column = text_.passed() + static_cast<std::uint64_t>(begin_ - text_.begin()) - line_begin_ + 1;
}

bool Lexer::refill(std::size_t count) {
    bool got = true;
    while (got && static_cast<std::size_t>(end_ - at_) < count) {
        const auto length = at_ - begin_;
        const std::uint64_t op_index = text_.passed() + static_cast<std::uint64_t>(begin_ - text_.begin());
        got = text_.more(begin_);
        begin_ = text_.begin() + (op_index - text_.passed());
        at_ = begin_ + length;
        end_ = text_.end();
    }
    return got;
}

void Lexer::scan() {
    begin_ = at_;
    skip_blanks();
    begin_ = at_;
    if (!has(1)) {
        set_token(TokenKind::end);
        return;
    }
    const char c = *at_++;
    if (is(c, letter)) {
        take_while(letter | digit | underscore, "a word");
        set_token(TokenKind::word);
    } else if (is(c, digit)) {
        take_while(digit, "a number");
        set_token(TokenKind::number);
    } else if (c == '\n' || c == '\r') {
        at_ += c == '\r' && has(1) && *at_ == '\n' ? 1 : 0;
        set_token(TokenKind::newline);
    } else {
        set_token(kind_of(c));
    }
}

void Lexer::take_while(unsigned classes, const char* what) {
    do {
        const char* at = at_;
        while (at != end_ && is(*at, classes)) {
            ++at;
        }
        at_ = at;
        if (static_cast<std::size_t>(at_ - begin_) > longest_word) {
            set_token(TokenKind::word);
            fail(token_, std::string(what) + " of at most " + std::to_string(longest_word) + " characters");
        }
    } while (at_ == end_ && has(1));
}

void Lexer::skip_blanks() {
    while (has(1)) {
        if (*at_ == ' ' || *at_ == '\t') {
            begin_ = ++at_;
        } else if (*at_ == '/' && has(2) && at_[1] == '/') {
            line_comment();
        } else if (*at_ == '/' && has(2) && at_[1] == '*') {
            block_comment();
        } else {
            return;
        }
    }
}

/// Skips to the end of the line. A carriage return alone does not end a comment, as in LogGOPSim.
void Lexer::line_comment() {
    while (has(1) && *at_ != '\n') {
        begin_ = ++at_;
    }
}

void Lexer::block_comment() {
    begin_ = at_;
    at_ += 2;
    set_token(TokenKind::other);
    Token opening = token_;
    opening.text = "/*";
    while (has(2) && (at_[0] != '*' || at_[1] != '/')) {
        begin_ = ++at_;
        if (begin_[-1] == '\n') {
            ++line_;
            line_begin_ = text_.passed() + static_cast<std::uint64_t>(at_ - text_.begin());
        }
    }
    if (!has(2)) {
        fail(opening, "'*/' at the end of this comment");
    }
    at_ += 2;
}

}  // namespace idlewave::goal
