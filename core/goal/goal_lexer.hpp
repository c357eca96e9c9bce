#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "goal/goal_text.hpp"

namespace idlewave::goal {

enum class TokenKind : std::uint8_t { word, number, colon, open, close, minus, newline, end, other };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view text;  ///< valid until the lexer moves on
    std::uint64_t line = 1;
    std::uint64_t column = 1;  ///< line and column count from 1
};

/// Splits GOAL text into tokens. Comments and blanks are skipped; line ends are tokens.
class Lexer {
  public:
    static constexpr std::size_t longest_word = 1 << 16;

    /// `name` is the name of the text in messages.
    Lexer(GoalText text, const std::string& name);

    /// The current token.
    [[nodiscard]] const Token& peek() const { return token_; }

    /// Moves on to the next token.
    void next();

    /// Splits the current word: skips its first `length` characters and scans the rest again. LogGOPSim's tools accept
    /// a keyword without a blank after it.
    void split(std::size_t length);

    /// Throws an InputError: `expected` was expected at `token`.
    [[noreturn]] void fail(const Token& token, const std::string& expected) const;

  private:
    void scan();
    void skip_blanks();
    void line_comment();
    void block_comment();
    void take_while(unsigned classes, const char* what);
    /// Whether the text has `count` more bytes at the current position. If so, they are in the window.
    bool has(std::size_t count) { return static_cast<std::size_t>(end_ - at_) >= count || refill(count); }
    bool refill(std::size_t count);
    void set_token(TokenKind kind);

    GoalText text_;
    std::string name_;
    const char* begin_ = nullptr;  ///< of the current token, in the window
    const char* at_ = nullptr;     ///< the first character that has not been read
    const char* end_ = nullptr;    ///< of the window
    std::uint64_t line_ = 1;
    std::uint64_t line_begin_ = 0;  ///< in the text
    Token token_;
};

}  // namespace idlewave::goal
