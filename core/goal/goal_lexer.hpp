#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace idlewave {

enum class TokenKind : std::uint8_t { word, number, colon, open, close, minus, newline, end, other };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view text;
    std::uint64_t line = 1;
    std::uint64_t column = 1;  ///< both count from 1
};

/// Cuts GOAL text into tokens; comments and blanks are passed over, line ends are tokens.
class Lexer {
  public:
    Lexer(std::string_view text, const std::string& name);

    [[nodiscard]] const Token& peek() const { return token_; }

    /// The current token; moves on to the next.
    Token next();

    /// Throws InputError: at `token`, `expected` was expected.
    [[noreturn]] void fail(const Token& token, const std::string& expected) const;

  private:
    void scan();
    void pass_over();
    void block_comment();
    [[nodiscard]] Token token(TokenKind kind, std::size_t length) const;

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
    std::uint64_t line_ = 1;
    std::size_t line_begin_ = 0;
    Token token_;
};

}  // namespace idlewave
