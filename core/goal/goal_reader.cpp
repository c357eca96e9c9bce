#include "goal/goal_reader.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>

#include "goal/goal_lexer.hpp"

namespace idlewave {
namespace {

// A calc's nanoseconds become picoseconds in int64; sizes are multiplied by costs per byte.
constexpr std::uint64_t largest_calc = 9'000'000'000'000'000;
constexpr std::uint64_t largest_size = std::uint64_t{1} << 50;
constexpr std::uint64_t largest_tag = 0xfffffffe;

class Parser {
  public:
    Parser(std::string_view text, const std::string& name) : lexer_(text, name) {}

    Graph parse() {
        while (lexer_.peek().kind != TokenKind::end) {
            if (lexer_.peek().kind == TokenKind::newline) {
                lexer_.next();
                continue;
            }
            statement();
        }
        if (!ranks_) {
            lexer_.fail(lexer_.peek(), "'num_ranks'");
        }
        if (in_rank_) {
            lexer_.fail(lexer_.peek(), "'}' at the end of rank " + std::to_string(rank_count_ - 1));
        }
        if (rank_count_ < *ranks_) {
            lexer_.fail(lexer_.peek(),
                        "'rank " + std::to_string(rank_count_) + " {', as num_ranks is " + std::to_string(*ranks_));
        }
        return builder_.finish();
    }

  private:
    void statement() {
        const Token first = lexer_.peek();
        if (!in_rank_) {
            header();
        } else if (first.kind == TokenKind::close) {
            lexer_.next();
            in_rank_ = false;
        } else if (first.kind == TokenKind::word) {
            lexer_.next();
            if (is_op(first) && lexer_.peek().kind != TokenKind::colon) {
                op(first, {});
            } else if (lexer_.peek().kind == TokenKind::colon) {
                lexer_.next();
                const Token keyword = lexer_.peek();
                if (!is_op(keyword)) {
                    lexer_.fail(keyword, "'send', 'recv' or 'calc'");
                }
                lexer_.next();
                op(keyword, first.text);
            } else {
                dependency(first);
            }
        } else {
            lexer_.fail(first, "an op, a label, or '}'");
        }
        end_of_line();
    }

    void header() {
        const Token first = lexer_.next();
        if (first.text == "num_ranks" && !ranks_) {
            const Token number = lexer_.peek();
            const std::uint64_t count = integer("the number of ranks", 0xfffffffe);
            if (count == 0) {
                lexer_.fail(number, "at least one rank");
            }
            ranks_ = static_cast<std::uint32_t>(count);
            return;
        }
        if (first.text != "rank") {
            lexer_.fail(first, ranks_ ? "'rank'" : "'num_ranks'");
        }
        if (!ranks_) {
            lexer_.fail(first, "'num_ranks' before the first rank");
        }
        const Token number = lexer_.peek();
        const std::uint64_t rank = integer("a rank", 0xfffffffe);
        if (rank >= *ranks_) {
            lexer_.fail(number, "a rank below num_ranks, which is " + std::to_string(*ranks_));
        }
        if (rank != rank_count_) {
            lexer_.fail(number, "rank " + std::to_string(rank_count_) + ", as ranks stand in order, each once");
        }
        expect(TokenKind::open, "'{'");
        ++rank_count_;
        in_rank_ = true;
        labels_.clear();
        builder_.begin_rank();
    }

    void op(const Token& keyword, std::string_view label) {
        Op result;
        result.kind = keyword.text == "send" ? OpKind::send : keyword.text == "recv" ? OpKind::recv : OpKind::calc;
        if (result.kind == OpKind::calc) {
            result.size = integer("a time in nanoseconds", largest_calc);
        } else {
            message(result);
        }
        attributes(result);
        if (builder_.size() == std::numeric_limits<Place>::max() - 1) {
            lexer_.fail(keyword, "at most 4294967294 ops in a rank");
        }
        const Place place = builder_.add(result, label);
        if (!label.empty()) {
            labels_.try_emplace(label, place);  // of two equal labels the first holds, as in LogGOPSim
        }
    }

    void message(Op& op) {
        op.size = integer("a size in bytes", largest_size);
        expect_word("b", "'b' after the size");
        const bool send = op.kind == OpKind::send;
        expect_word(send ? "to" : "from", send ? "'to'" : "'from'");
        const Token peer = lexer_.peek();
        if (peer.kind == TokenKind::minus) {
            minus_one("a rank");
            op.peer = any;
            if (send) {
                lexer_.fail(peer, "a rank to send to");
            }
            return;
        }
        op.peer = static_cast<std::uint32_t>(integer("a rank", 0xfffffffe));
        if (op.peer >= *ranks_) {
            lexer_.fail(peer, "a rank below num_ranks, which is " + std::to_string(*ranks_));
        }
    }

    void attributes(Op& op) {
        while (lexer_.peek().kind == TokenKind::word) {
            const Token name = lexer_.next();
            const bool message = op.kind != OpKind::calc;
            if (name.text == "tag" && message) {
                if (lexer_.peek().kind == TokenKind::minus) {
                    minus_one("a tag");
                    op.tag = any;
                } else {
                    op.tag = static_cast<std::uint32_t>(integer("a tag", largest_tag));
                }
            } else if (name.text == "cpu") {
                op.cpu = static_cast<std::uint8_t>(integer("a CPU", 255));
            } else if (name.text == "nic" && message) {
                op.nic = static_cast<std::uint8_t>(integer("a NIC", 255));
            } else {
                lexer_.fail(name,
                            message ? "'tag', 'cpu', 'nic' or the end of the line" : "'cpu' or the end of the line");
            }
        }
    }

    void dependency(const Token& label) {
        const Token verb = lexer_.next();
        if (verb.text != "requires" && verb.text != "irequires") {
            lexer_.fail(verb, "':', 'requires' or 'irequires' after a label");
        }
        const Token other = lexer_.next();
        if (other.kind != TokenKind::word) {
            lexer_.fail(other, "the label of another op");
        }
        const Edge edge = verb.text == "requires" ? Edge::end : Edge::start;
        const Place waiting = place_of(label);
        builder_.require(waiting, place_of(other), edge);
    }

    Place place_of(const Token& label) const {
        const auto found = labels_.find(label.text);
        if (found == labels_.end()) {
            lexer_.fail(label, "a label that was defined above in this rank");
        }
        return found->second;
    }

    static bool is_op(const Token& token) {
        return token.text == "send" || token.text == "recv" || token.text == "calc";
    }

    std::uint64_t integer(const std::string& what, std::uint64_t largest) {
        const Token token = lexer_.next();
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
        if (token.kind != TokenKind::number || error != std::errc{} || value > largest) {
            lexer_.fail(token, what + " from 0 to " + std::to_string(largest));
        }
        return value;
    }

    void minus_one(const std::string& what) {
        lexer_.next();
        const Token one = lexer_.next();
        if (one.text != "1") {
            lexer_.fail(one, what + ", or -1 for any");
        }
    }

    void expect(TokenKind kind, const std::string& what) {
        const Token token = lexer_.next();
        if (token.kind != kind) {
            lexer_.fail(token, what);
        }
    }

    void expect_word(std::string_view word, const std::string& what) {
        const Token token = lexer_.next();
        if (token.text != word) {
            lexer_.fail(token, what);
        }
    }

    void end_of_line() {
        const Token token = lexer_.peek();
        if (token.kind != TokenKind::newline && token.kind != TokenKind::end && token.kind != TokenKind::close &&
            !opened_rank()) {
            lexer_.fail(token, "the end of the line");
        }
    }

    [[nodiscard]] bool opened_rank() const { return in_rank_ && builder_.size() == 0; }

    Lexer lexer_;
    GraphBuilder builder_;
    std::unordered_map<std::string_view, Place> labels_;
    std::optional<std::uint32_t> ranks_;
    std::uint32_t rank_count_ = 0;
    bool in_rank_ = false;
};

}  // namespace

Graph read_goal(std::string_view text, const std::string& name) {
    return Parser(text, name).parse();
}

}  // namespace idlewave
