#include "goal/goal_reader.hpp"

#include <charconv>
#include <string>
#include <utility>

#include "goal/op_words.hpp"

namespace idlewave::goal {
GoalReader::GoalReader(GoalText text, const std::string& name) : lexer_(std::move(text), name) {}

bool GoalReader::next(RankSchedule& rank) {
    rank.clear();
    skip_line_ends();
    if (ranks_ && read_ == *ranks_) {
        if (lexer_.peek().kind != TokenKind::end) {
            lexer_.fail(lexer_.peek(), "the end of the text, as every rank is there");
        }
        return false;
    }
    header();
    labels_.begin(rank.labels);
    body(rank);
    ++read_;
    return true;
}

/// Reads `num_ranks` and the line that opens a rank. As in LogGOPSim, `num_ranks` may also stand inside the first rank.
void GoalReader::header() {
    if (!ranks_ && lexer_.peek().text == "num_ranks") {
        lexer_.next();
        number_of_ranks();
        skip_line_ends();
    }
    if (lexer_.peek().text != "rank") {
        if (lexer_.peek().kind == TokenKind::end && ranks_) {
            lexer_.fail(lexer_.peek(),
                        "'rank " + std::to_string(read_) + " {', as num_ranks is " + std::to_string(*ranks_));
        }
        lexer_.fail(lexer_.peek(), ranks_ ? "'rank'" : "'num_ranks'");
    }
    lexer_.next();
    const Token number = lexer_.peek();
    const std::uint64_t rank = integer("a rank", most_ranks);
    const std::string value = std::to_string(rank);  // the text of `number` is no longer valid
    const Token shown{number.kind, value, number.line, number.column};
    if (ranks_ && rank >= *ranks_) {
        lexer_.fail(shown, "a rank below num_ranks, which is " + std::to_string(*ranks_));
    }
    if (rank != read_) {
        lexer_.fail(shown, "rank " + std::to_string(read_) + ", as ranks stand in order, each once");
    }
    if (lexer_.peek().kind != TokenKind::open) {
        lexer_.fail(lexer_.peek(), "'{'");
    }
    lexer_.next();
}

void GoalReader::number_of_ranks() {
    const Token number = lexer_.peek();
    const std::uint64_t count = integer("the number of ranks", most_ranks);
    if (count == 0) {
        lexer_.fail({number.kind, "0", number.line, number.column}, "at least one rank");
    }
    ranks_ = static_cast<std::uint32_t>(count);
}

void GoalReader::body(RankSchedule& rank) {
    ranks_known_ = ranks_.has_value();
    for (;;) {
        skip_line_ends();
        const TokenKind kind = lexer_.peek().kind;
        if (kind == TokenKind::close) {
            end_of_rank(rank);
            return;
        }
        if (kind == TokenKind::end) {
            lexer_.fail(lexer_.peek(), "'}' at the end of rank " + std::to_string(read_));
        }
        if (kind != TokenKind::word) {
            lexer_.fail(lexer_.peek(), "an op, a label, or '}'");
        }
        statement(rank);
    }
}

void GoalReader::end_of_rank(const RankSchedule& rank) {
    if (!ranks_) {
        lexer_.fail(lexer_.peek(), "'num_ranks' before the end of the first rank");
    }
    for (std::size_t op_index = 0; !ranks_known_ && op_index < rank.ops.size(); ++op_index) {
        const Op& op = rank.ops[op_index];
        if (op.kind != OpKind::calc && op.peer != any && op.peer >= *ranks_) {
            lexer_.fail(lexer_.peek(), "peers below num_ranks, which is " + std::to_string(*ranks_) + ", but op " +
                                           std::to_string(op_index) + " has " + std::to_string(op.peer));
        }
    }
    lexer_.next();
}

void GoalReader::statement(RankSchedule& rank) {
    first_word_ = lexer_.peek().text;
    Token first = lexer_.peek();
    first.text = first_word_;
    lexer_.next();
    const TokenKind second = lexer_.peek().kind;
    const std::optional<OpKind> kind = op_kind_of(first.text);
    if (second == TokenKind::colon) {
        lexer_.next();
        labelled_op(rank, first.text);
        line_end();
    } else if (kind && begins_op(*kind)) {
        op(rank, *kind, {});
        line_end();
    } else if (first.text == "num_ranks" && second == TokenKind::number && !ranks_) {
        number_of_ranks();
    } else if (first.text == "rank" && second == TokenKind::number) {
        lexer_.fail(first, "'}' at the end of rank " + std::to_string(read_));
    } else {
        dependency(rank, first);
        line_end();
    }
}

void GoalReader::labelled_op(RankSchedule& rank, std::string_view label) {
    for (const std::string_view word : op_words) {
        if (take(word, Glued::digit)) {
            op(rank, *op_kind_of(word), label);
            return;
        }
    }
    lexer_.fail(lexer_.peek(), "'send', 'recv', 'calc' or a one-sided op");
}

/// Whether a statement that begins with the word of this kind is an op. The words of one-sided ops may be labels, as
/// they are in files of LogGOPSim: then 'requires' or 'irequires' follows.
bool GoalReader::begins_op(OpKind kind) const {
    return !is_one_sided(kind) || !(at("requires", Glued::letter) || at("irequires", Glued::letter));
}

void GoalReader::op(RankSchedule& rank, OpKind kind, std::string_view label) {
    if (rank.ops.size() == most_ops) {
        lexer_.fail(lexer_.peek(), "at most " + std::to_string(most_ops) + " ops in a rank");
    }
    Op result;
    result.kind = kind;
    if (kind == OpKind::calc) {
        result.size = integer("a time in nanoseconds", largest_calc);
    } else {
        message(result);
        result.tag = kind == OpKind::put ? no_notification : 0;
    }
    attributes(result);
    rank.ops.push_back(result);
    rank.labels.add(label);
    labels_.added();
}

void GoalReader::message(Op& op) {
    op.size = 1;
    if (has_size(op.kind)) {
        op.size = integer("a size in bytes", largest_size);
        expect("b", Glued::letter, "'b' after the size");
    }
    before_peer(op.kind);
    const Token peer = lexer_.peek();
    if (peer.kind == TokenKind::minus) {
        if (!is_receiving(op.kind)) {
            lexer_.fail(peer, op.kind == OpKind::send ? "a rank to send to" : "a rank");
        }
        minus_one("a rank");
        op.peer = any;
        return;
    }
    op.peer = static_cast<std::uint32_t>(integer("a rank", most_ranks));
    if (ranks_ && op.peer >= *ranks_) {
        lexer_.fail({peer.kind, std::to_string(op.peer), peer.line, peer.column},
                    "a rank below num_ranks, which is " + std::to_string(*ranks_));
    }
}

/// The word between the size and the peer.
void GoalReader::before_peer(OpKind kind) {
    switch (kind) {
        case OpKind::send:
        case OpKind::put:
            expect("to", Glued::digit, "'to'");
            break;
        case OpKind::lock:
        case OpKind::shared_lock:
        case OpKind::unlock:
            expect("at", Glued::digit, "'at'");
            break;
        default:
            expect("from", Glued::digit, "'from'");
            break;
    }
}

/// What may follow an op of a kind, for messages.
const char* GoalReader::attributes_of(OpKind kind) {
    switch (kind) {
        case OpKind::calc:
            return "'cpu' or the end of the line";
        case OpKind::get:
            return "'cpu', 'nic' or the end of the line";
        case OpKind::send:
            return "'tag', 'cpu', 'nic', 'synchronous' or the end of the line";
        default:
            return "'tag', 'cpu', 'nic' or the end of the line";
    }
}

void GoalReader::attributes(Op& op) {
    const bool message = op.kind != OpKind::calc;
    while (lexer_.peek().kind == TokenKind::word) {
        if (message && op.kind != OpKind::get && take("tag", Glued::digit)) {
            tag(op);
        } else if (take("cpu", Glued::digit)) {
            op.cpu = static_cast<std::uint8_t>(integer("a CPU", 255));
        } else if (op.kind == OpKind::send && !is_synchronous(op.size) && take("synchronous", Glued::digit)) {
            op.size |= synchronous_bit;
        } else if (message && take("nic", Glued::digit)) {
            op.nic = static_cast<std::uint8_t>(integer("a NIC", 255));
        } else {
            lexer_.fail(lexer_.peek(), attributes_of(op.kind));
        }
    }
}

/// Reads a tag. Of a large tag the lowest 32 bits are used: LogGOPSim's tools write 64 bits and read 32.
void GoalReader::tag(Op& op) {
    if (lexer_.peek().kind == TokenKind::minus) {
        if (is_one_sided(op.kind) && !is_receiving(op.kind)) {
            lexer_.fail(lexer_.peek(), "a tag from 0 to 4294967294");
        }
        minus_one("a tag");
        op.tag = any;
        return;
    }
    if (lexer_.peek().kind != TokenKind::number) {
        lexer_.fail(lexer_.peek(), "a tag from 0 to 4294967294");
    }
    op.tag = 0;
    for (const char digit : lexer_.peek().text) {
        op.tag = 10 * op.tag + static_cast<std::uint32_t>(digit - '0');
    }
    if (op.tag == any && is_one_sided(op.kind) && !is_receiving(op.kind)) {
        lexer_.fail(lexer_.peek(), "a tag from 0 to 4294967294");
    }
    lexer_.next();
}

void GoalReader::dependency(RankSchedule& rank, const Token& label) {
    Edge edge = Edge::end;
    if (take("irequires", Glued::letter)) {
        edge = Edge::start;
    } else {
        expect("requires", Glued::letter, "':', 'requires' or 'irequires' after a label");
    }
    if (lexer_.peek().kind != TokenKind::word) {
        lexer_.fail(lexer_.peek(), "the label of another op");
    }
    const OpIndex successor = index_of(label);
    rank.requirements.push_back({successor, index_of(lexer_.peek()), edge});
    lexer_.next();
}

OpIndex GoalReader::index_of(const Token& label) const {
    const std::optional<OpIndex> found = labels_.find(label.text);
    if (!found) {
        lexer_.fail(label, "a label that was defined above in this rank");
    }
    return *found;
}

/// Whether the current word is `keyword`, alone or followed by a character that `glued` allows.
bool GoalReader::at(std::string_view keyword, Glued glued) const {
    const std::string_view text = lexer_.peek().text;
    if (lexer_.peek().kind != TokenKind::word || !text.starts_with(keyword)) {
        return false;
    }
    if (text.size() == keyword.size()) {
        return true;
    }
    const char next = text[keyword.size()];
    const bool digit = next >= '0' && next <= '9';
    return glued == Glued::digit ? digit : glued == Glued::letter && !digit && next != '_';
}

/// Skips the keyword if it is the current word. It needs no blank after it.
bool GoalReader::take(std::string_view keyword, Glued glued) {
    if (!at(keyword, glued)) {
        return false;
    }
    if (lexer_.peek().text.size() == keyword.size()) {
        lexer_.next();
    } else {
        lexer_.split(keyword.size());
    }
    return true;
}

void GoalReader::expect(std::string_view keyword, Glued glued, const char* what) {
    if (!take(keyword, glued)) {
        lexer_.fail(lexer_.peek(), what);
    }
}

void GoalReader::skip_line_ends() {
    while (lexer_.peek().kind == TokenKind::newline) {
        lexer_.next();
    }
}

void GoalReader::line_end() {
    const TokenKind kind = lexer_.peek().kind;
    if (kind != TokenKind::newline && kind != TokenKind::end && kind != TokenKind::close) {
        lexer_.fail(lexer_.peek(), "the end of the line");
    }
}

std::uint64_t GoalReader::integer(const char* what, std::uint64_t largest) {
    const Token& token = lexer_.peek();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (token.kind != TokenKind::number || error != std::errc{} || value > largest) {
        lexer_.fail(token, std::string(what) + " from 0 to " + std::to_string(largest));
    }
    lexer_.next();
    return value;
}

void GoalReader::minus_one(const char* what) {
    lexer_.next();
    if (lexer_.peek().text != "1") {
        lexer_.fail(lexer_.peek(), std::string(what) + ", or -1 for any");
    }
    lexer_.next();
}

Graph read_goal(std::string_view text, const std::string& name) {
    GoalReader reader(GoalText(text), name);
    GraphBuilder builder;
    for (RankSchedule rank; reader.next(rank);) {
        builder.append(rank);
    }
    return builder.finish();
}

}  // namespace idlewave::goal
