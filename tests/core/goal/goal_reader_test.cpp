#include "goal/goal_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "dice.hpp"

namespace idlewave::goal {
namespace {

using testing::Dice;

bool same(const Op& a, const Op& b) {
    return a.kind == b.kind && a.size == b.size && a.peer == b.peer && a.tag == b.tag && a.cpu == b.cpu &&
           a.nic == b.nic;
}

/// The one op of the one-rank (or two-rank, where it needs a peer) schedule with this statement.
Op op_of(const std::string& statement) {
    return read_goal("num_ranks 2\nrank 0 {\n" + statement + "\n}\nrank 1 {\n}\n", "text").op(0, 0);
}

TEST(GoalReader, UnderstandsEveryFormOfAnOp) {
    EXPECT_TRUE(same(op_of("calc 5"), {.size = 5, .kind = OpKind::calc}));
    EXPECT_TRUE(same(op_of("a: calc 5 cpu 3"), {.size = 5, .kind = OpKind::calc, .cpu = 3}));
    EXPECT_TRUE(same(op_of("calc 9000000000000000"), {.size = 9'000'000'000'000'000, .kind = OpKind::calc}));
    EXPECT_TRUE(same(op_of("send 8b to 1"), {.size = 8, .peer = 1, .kind = OpKind::send}));
    EXPECT_TRUE(same(op_of("x_1 : send 0b to 0 tag 7"), {.size = 0, .peer = 0, .tag = 7, .kind = OpKind::send}));
    EXPECT_TRUE(same(op_of("send 8 b to 1 tag 1 cpu 2 nic 255"),
                     {.size = 8, .peer = 1, .tag = 1, .kind = OpKind::send, .cpu = 2, .nic = 255}));
    EXPECT_TRUE(same(op_of("send 8b to 1 nic 3 tag 1 cpu 2"),
                     {.size = 8, .peer = 1, .tag = 1, .kind = OpKind::send, .cpu = 2, .nic = 3}));
    EXPECT_TRUE(
        same(op_of("recv 8b from 1 tag 4294967294"), {.size = 8, .peer = 1, .tag = 4294967294, .kind = OpKind::recv}));
    EXPECT_TRUE(same(op_of("recv 8b from -1 tag -1"), {.size = 8, .peer = any, .tag = any, .kind = OpKind::recv}));
    EXPECT_TRUE(same(op_of("recv 8b from - 1"), {.size = 8, .peer = any, .kind = OpKind::recv}));
    EXPECT_TRUE(same(op_of("send: send 1b to 1"), {.size = 1, .peer = 1, .kind = OpKind::send}));
    EXPECT_TRUE(same(op_of("send 8b to 1 tag 3 synchronous cpu 2"),
                     {.size = 8 | synchronous_bit, .peer = 1, .tag = 3, .kind = OpKind::send, .cpu = 2}));
}

TEST(GoalReader, UnderstandsEveryFormOfAOneSidedOp) {
    EXPECT_TRUE(same(op_of("put 8b to 1"), {.size = 8, .peer = 1, .tag = no_notification, .kind = OpKind::put}));
    EXPECT_TRUE(same(op_of("p: put 0b to 1 tag 0 cpu 2 nic 3"),
                     {.size = 0, .peer = 1, .tag = 0, .kind = OpKind::put, .cpu = 2, .nic = 3}));
    EXPECT_TRUE(
        same(op_of("put 8b to 1 tag 4294967294"), {.size = 8, .peer = 1, .tag = 4294967294, .kind = OpKind::put}));
    EXPECT_TRUE(
        same(op_of("get 8b from 1 nic 1 cpu 2"), {.size = 8, .peer = 1, .kind = OpKind::get, .cpu = 2, .nic = 1}));
    EXPECT_TRUE(same(op_of("await from 1"), {.size = 1, .peer = 1, .tag = 0, .kind = OpKind::await}));
    EXPECT_TRUE(same(op_of("await from -1 tag -1"), {.size = 1, .peer = any, .tag = any, .kind = OpKind::await}));
    EXPECT_TRUE(same(op_of("lock at 1"), {.size = 1, .peer = 1, .kind = OpKind::lock}));
    EXPECT_TRUE(same(op_of("x: lock at 0 tag 3"), {.size = 1, .peer = 0, .tag = 3, .kind = OpKind::lock}));
    EXPECT_TRUE(same(op_of("shared_lock at 1 cpu 4"), {.size = 1, .peer = 1, .kind = OpKind::shared_lock, .cpu = 4}));
    EXPECT_TRUE(
        same(op_of("unlock at 1 tag 3 nic 1"), {.size = 1, .peer = 1, .tag = 3, .kind = OpKind::unlock, .nic = 1}));
}

std::vector<OpIndex> successors(const Graph& graph, std::uint32_t rank, OpIndex op_index, Edge edge) {
    std::vector<OpIndex> found;
    Successors list = graph.block(rank).successors(op_index, edge);
    for (OpIndex next = 0; list.next(next);) {
        found.push_back(next);
    }
    return found;
}

TEST(GoalReader, ReadsASchedule) {
    const Graph graph = read_goal(
        "num_ranks 2\n"
        "rank 0 {\n"
        "first: calc 100\n"
        "calc 7\n"
        "tell: send 10b to 1 tag 3\n"
        "tell requires first\n"
        "again: calc 1\n"
        "again irequires tell\n"
        "again requires first\n"
        "}\n"
        "rank 1 {\n"
        "recv 10b from 0 tag 3\n"
        "}\n",
        "text");
    ASSERT_EQ(graph.ranks(), 2U);
    ASSERT_EQ(graph.size(0), 4U);
    ASSERT_EQ(graph.size(1), 1U);
    EXPECT_EQ(graph.block(0).label(0), "first");
    EXPECT_EQ(graph.block(0).label(1), "");
    EXPECT_EQ(graph.name(0, 1), "op 1");
    ASSERT_EQ(successors(graph, 0, 0, Edge::end).size(), 2U);
    EXPECT_EQ(successors(graph, 0, 0, Edge::end)[0], 2U);
    EXPECT_EQ(successors(graph, 0, 0, Edge::end)[1], 3U);
    ASSERT_EQ(successors(graph, 0, 2, Edge::start).size(), 1U);
    EXPECT_TRUE(successors(graph, 0, 2, Edge::end).empty());
}

TEST(GoalReader, PassesOverCommentsBlanksAndKindsOfLineEnds) {
    const std::string_view texts[] = {
        "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\n}\n",
        "num_ranks 1\r\nrank 0 {\r\na: calc 1\r\nb: calc 2\r\nb requires a\r\n}\r\n",
        "num_ranks 1\rrank 0 {\ra: calc 1\rb: calc 2\rb requires a\r}",
        "// what this is\n\n\nnum_ranks 1 // one\n\nrank 0 {\n\n  a:\tcalc 1// first\n\nb: calc 2\n\tb requires a\n}",
        "/* two\nlines */ num_ranks 1\nrank 0 { /**/ a: calc /* and\ntwo */ 1\nb: calc 2\nb requires a }",
        "num_ranks 1\nrank 0 {a: calc 1\nb: calc 2\nb requires a}// the end"};
    for (const std::string_view text : texts) {
        const Graph graph = read_goal(text, "text");
        ASSERT_EQ(graph.size(0), 2U) << text;
        EXPECT_EQ(graph.op(0, 1).size, 2U) << text;
        EXPECT_EQ(successors(graph, 0, 0, Edge::end).size(), 1U) << text;
    }
}

TEST(GoalReader, OfTwoEqualLabelsTheFirstHolds) {
    const Graph graph = read_goal("num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\nb: calc 3\nb requires a\n}\n", "text");
    EXPECT_EQ(successors(graph, 0, 0, Edge::end).size(), 1U);
    EXPECT_TRUE(successors(graph, 0, 1, Edge::end).empty());
}

TEST(GoalReader, NeedsNoBlankBehindAKeywordAsTxt2binDoesNot) {
    EXPECT_TRUE(same(op_of("a:calc5cpu3"), {.size = 5, .kind = OpKind::calc, .cpu = 3}));
    EXPECT_TRUE(same(op_of("a:send5bto1tag4cpu1nic2"),
                     {.size = 5, .peer = 1, .tag = 4, .kind = OpKind::send, .cpu = 1, .nic = 2}));
    EXPECT_TRUE(
        same(op_of("recv 5bfrom-1tag-1cpu1"), {.size = 5, .peer = any, .tag = any, .kind = OpKind::recv, .cpu = 1}));
    const Graph graph = read_goal("num_ranks 1\nrank 0{\na: calc 1\nb: calc 2\nb requiresa\nb irequiresa\n}", "text");
    EXPECT_EQ(successors(graph, 0, 0, Edge::end).size(), 1U);
    EXPECT_EQ(successors(graph, 0, 0, Edge::start).size(), 1U);
}

TEST(GoalReader, OfATagTheLowest32BitsCountAsForTxt2bin) {
    EXPECT_EQ(op_of("send 1b to 1 tag 4294967296").tag, 0U);
    EXPECT_EQ(op_of("send 1b to 1 tag 72057594037927943").tag, 7U);
    EXPECT_EQ(op_of("send 1b to 1 tag 4294967295").tag, any);
}

TEST(GoalReader, ACarriageReturnAloneEndsNoComment) {
    EXPECT_EQ(read_goal("num_ranks 1\nrank 0 {\n// first\rcalc 1\ncalc 2\n}\n", "text").size(0), 1U);
}

TEST(GoalReader, TakesTheNumberOfRanksAlsoInTheFirstRank) {
    EXPECT_EQ(read_goal("rank 0 {\nsend 1b to 1\nnum_ranks 2\n}\nrank 1 {\n}\n", "text").ranks(), 2U);
}

TEST(GoalReader, FollowersBecomeReadyInTheOrderOfTheirLines) {
    const Graph graph =
        read_goal("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\nc requires a\nb requires a\n}\n", "text");
    EXPECT_EQ(successors(graph, 0, 0, Edge::end), (std::vector<OpIndex>{2, 1}));
}

TEST(GoalReader, WordsOfTheLanguageCanBeLabels) {
    const Graph graph = read_goal(
        "num_ranks 1\nrank 0 {\nto: calc 1\nrequires: calc 2\nrequires requires to\ncpu: calc 3\n"
        "cpu irequires requires\n}\n",
        "text");
    EXPECT_EQ(successors(graph, 0, 0, Edge::end), (std::vector<OpIndex>{1}));
    EXPECT_EQ(successors(graph, 0, 1, Edge::start), (std::vector<OpIndex>{2}));
}

TEST(GoalReader, WordsOfOneSidedOpsCanBeLabelsAsInFilesThatAreOlder) {
    const Graph graph = read_goal(
        "num_ranks 1\nrank 0 {\nput: calc 1\nget: calc 2\nget requires put\nlock: lock at 0\nlock irequires get\n"
        "await: put 1b to 0\nshared_lock: calc 1\nunlock: calc 1\nunlock requires lock\nawait requires put\n}\n",
        "text");
    EXPECT_EQ(graph.size(0), 6U);
    EXPECT_EQ(successors(graph, 0, 0, Edge::end), (std::vector<OpIndex>{1, 3}));
    EXPECT_EQ(successors(graph, 0, 1, Edge::start), (std::vector<OpIndex>{2}));
    EXPECT_EQ(graph.op(0, 2).kind, OpKind::lock);
    EXPECT_EQ(graph.op(0, 3).kind, OpKind::put);
    EXPECT_EQ(graph.name(0, 4), "shared_lock");
}

TEST(GoalReader, KnowsWhetherAScheduleHasOneSidedOps) {
    EXPECT_TRUE(read_goal("num_ranks 1\nrank 0 {\ncalc 1\nunlock at 0\n}\n", "text").has_one_sided());
    EXPECT_FALSE(read_goal("num_ranks 1\nrank 0 {\ncalc 1\nsend 1b to 0\n}\n", "text").has_one_sided());
}

TEST(GoalReader, ALabelBelongsToItsRank) {
    EXPECT_THROW(read_goal("num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\nb: calc 1\nb requires a\n}\n", "text"),
                 InputError);
}

struct Wrong {
    const char* text;
    const char* message;
};

/// Inside `rank 0 {` of two ranks, on line 3.
struct WrongStatement {
    const char* statement;
    const char* message;
};

std::string message_of(const std::string& text) {
    try {
        read_goal(text, "x.goal");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

class GoalError : public ::testing::TestWithParam<Wrong> {};

TEST_P(GoalError, NamesThePlaceAndWhatWasExpected) {
    EXPECT_EQ(message_of(GetParam().text), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Text, GoalError,
    ::testing::Values(
        Wrong{"", "x.goal:1:1: expected 'num_ranks', found the end of the text"},
        Wrong{"\n\n", "x.goal:3:1: expected 'num_ranks', found the end of the text"},
        Wrong{"ranks 2", "x.goal:1:1: expected 'num_ranks', found 'ranks'"},
        Wrong{"rank 0 {", "x.goal:1:9: expected '}' at the end of rank 0, found the end of the text"},
        Wrong{"rank 0 {\n}\n", "x.goal:2:1: expected 'num_ranks' before the end of the first rank, found '}'"},
        Wrong{"rank 0 {\nsend 1b to 5\nnum_ranks 2\n}\n",
              "x.goal:4:1: expected peers below num_ranks, which is 2, but op 0 has 5, found '}'"},
        Wrong{"num_ranks 2\nrank 0 {\ncalc 1\nrank 1 {\n}\n",
              "x.goal:4:1: expected '}' at the end of rank 0, found 'rank'"},
        Wrong{"num_ranks", "x.goal:1:10: expected the number of ranks from 0 to 4294967294, found the end of the text"},
        Wrong{"num_ranks 0", "x.goal:1:11: expected at least one rank, found '0'"},
        Wrong{"num_ranks -1", "x.goal:1:11: expected the number of ranks from 0 to 4294967294, found '-'"},
        Wrong{"num_ranks 4294967295",
              "x.goal:1:11: expected the number of ranks from 0 to 4294967294, found '4294967295'"},
        Wrong{"num_ranks 99999999999999999999999",
              "x.goal:1:11: expected the number of ranks from 0 to 4294967294, found '99999999999999999999999'"},
        Wrong{"num_ranks 1 2", "x.goal:1:13: expected 'rank', found '2'"},
        Wrong{"num_ranks 1\nnum_ranks 1", "x.goal:2:1: expected 'rank', found 'num_ranks'"},
        Wrong{"num_ranks 1\n", "x.goal:2:1: expected 'rank 0 {', as num_ranks is 1, found the end of the text"},
        Wrong{"num_ranks 2\nrank 0 {\n}\n",
              "x.goal:4:1: expected 'rank 1 {', as num_ranks is 2, found the end of the text"},
        Wrong{"num_ranks 1\nrank 1 {\n}\n", "x.goal:2:6: expected a rank below num_ranks, which is 1, found '1'"},
        Wrong{"num_ranks 2\nrank 1 {\n}\n",
              "x.goal:2:6: expected rank 0, as ranks stand in order, each once, found '1'"},
        Wrong{"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n",
              "x.goal:4:6: expected rank 1, as ranks stand in order, each once, found '0'"},
        Wrong{"num_ranks 1\nrank 0\n{\n}\n", "x.goal:2:7: expected '{', found the end of the line"},
        Wrong{"num_ranks 1\nrank 0 {\ncalc 1\n",
              "x.goal:4:1: expected '}' at the end of rank 0, found the end of the text"},
        Wrong{"num_ranks 1\nrank 0 {\n}\n}\n",
              "x.goal:4:1: expected the end of the text, as every rank is there, found '}'"},
        Wrong{"num_ranks 1 /* no end\nrank 0 {\n}\n",
              "x.goal:1:13: expected '*/' at the end of this comment, found '/*'"},
        Wrong{"/* two\nlines */ num_ranks x",
              "x.goal:2:20: expected the number of ranks from 0 to 4294967294, found 'x'"},
        Wrong{"num_ranks 1\r\nrank 0 {\r\ncalc x\r\n}\r\n",
              "x.goal:3:6: expected a time in nanoseconds from 0 to 9000000000000000, found 'x'"},
        Wrong{"num_ranks 1\rrank 0 {\rcalc x\r}\r",
              "x.goal:3:6: expected a time in nanoseconds from 0 to 9000000000000000, found 'x'"},
        Wrong{"\xff\x01", "x.goal:1:1: expected 'num_ranks', found '\\xff'"}));

class GoalStatementError : public ::testing::TestWithParam<WrongStatement> {};

TEST_P(GoalStatementError, NamesThePlaceAndWhatWasExpected) {
    const std::string text = "num_ranks 2\nrank 0 {\n" + std::string(GetParam().statement) + "\n}\nrank 1 {\n}\n";
    EXPECT_EQ(message_of(text), std::string("x.goal:3:") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Text, GoalStatementError,
    ::testing::Values(
        WrongStatement{"17", "1: expected an op, a label, or '}', found '17'"},
        WrongStatement{"calc",
                       "5: expected a time in nanoseconds from 0 to 9000000000000000, found the end of the line"},
        WrongStatement{"calc 9000000000000001",
                       "6: expected a time in nanoseconds from 0 to 9000000000000000, found '9000000000000001'"},
        WrongStatement{"calc 5b", "7: expected 'cpu' or the end of the line, found 'b'"},
        WrongStatement{"calc 5 nic 1", "8: expected 'cpu' or the end of the line, found 'nic'"},
        WrongStatement{"calc 5 6", "8: expected the end of the line, found '6'"},
        WrongStatement{"calc 5 cpu 256", "12: expected a CPU from 0 to 255, found '256'"},
        WrongStatement{"send 5 to 1", "8: expected 'b' after the size, found 'to'"},
        WrongStatement{"send b to 1", "6: expected a size in bytes from 0 to 1125899906842624, found 'b'"},
        WrongStatement{"send 5b from 1", "9: expected 'to', found 'from'"},
        WrongStatement{"recv 5b to 1", "9: expected 'from', found 'to'"},
        WrongStatement{"send 5b to 2", "12: expected a rank below num_ranks, which is 2, found '2'"},
        WrongStatement{"send 5b to -1", "12: expected a rank to send to, found '-'"},
        WrongStatement{"recv 5b from -2", "15: expected a rank, or -1 for any, found '2'"},
        WrongStatement{"recv 5b from x", "14: expected a rank from 0 to 4294967294, found 'x'"},
        WrongStatement{"send 5b to 1 tag", "17: expected a tag from 0 to 4294967294, found the end of the line"},
        WrongStatement{"send 5b to 1 tag -2", "19: expected a tag, or -1 for any, found '2'"},
        WrongStatement{"send 5b to 1 nic 300", "18: expected a NIC from 0 to 255, found '300'"},
        WrongStatement{"send 5b to 1 tags 3",
                       "14: expected 'tag', 'cpu', 'nic', 'synchronous' or the end of the line, found 'tags'"},
        WrongStatement{"send 5b to 1 synchronous synchronous",
                       "26: expected 'tag', 'cpu', 'nic', 'synchronous' or the end of the line, found 'synchronous'"},
        WrongStatement{"recv 5b from 1 synchronous",
                       "16: expected 'tag', 'cpu', 'nic' or the end of the line, found 'synchronous'"},
        WrongStatement{"a: sent 5b to 1", "4: expected 'send', 'recv', 'calc' or a one-sided op, found 'sent'"},
        WrongStatement{"put 5b from 1", "8: expected 'to', found 'from'"},
        WrongStatement{"put 5 to 1", "7: expected 'b' after the size, found 'to'"},
        WrongStatement{"put 5b to -1", "11: expected a rank, found '-'"},
        WrongStatement{"put 5b to 2", "11: expected a rank below num_ranks, which is 2, found '2'"},
        WrongStatement{"put 5b to 1 tag -1", "17: expected a tag from 0 to 4294967294, found '-'"},
        WrongStatement{"put 5b to 1 tag 4294967295", "17: expected a tag from 0 to 4294967294, found '4294967295'"},
        WrongStatement{"get 5b to 1", "8: expected 'from', found 'to'"},
        WrongStatement{"get 5b from -1", "13: expected a rank, found '-'"},
        WrongStatement{"get 5b from 1 tag 3", "15: expected 'cpu', 'nic' or the end of the line, found 'tag'"},
        WrongStatement{"await 5b from 1", "7: expected 'from', found '5'"},
        WrongStatement{"await from -2", "13: expected a rank, or -1 for any, found '2'"},
        WrongStatement{"lock to 1", "6: expected 'at', found 'to'"},
        WrongStatement{"lock at -1", "9: expected a rank, found '-'"},
        WrongStatement{"shared_lock at 1 tag -1", "22: expected a tag from 0 to 4294967294, found '-'"},
        WrongStatement{"unlock at 1 size 3", "13: expected 'tag', 'cpu', 'nic' or the end of the line, found 'size'"},
        WrongStatement{"a calc 5", "3: expected ':', 'requires' or 'irequires' after a label, found 'calc'"},
        WrongStatement{"a requires b", "1: expected a label that was defined above in this rank, found 'a'"},
        WrongStatement{"a requires 7", "12: expected the label of another op, found '7'"},
        WrongStatement{"a requires", "11: expected the label of another op, found the end of the line"}));

TEST(GoalReader, ShowsLongAndUnprintableTextInAMessageShortened) {
    EXPECT_EQ(message_of(std::string(300, 'x')),
              "x.goal:1:1: expected 'num_ranks', found '" + std::string(200, 'x') + "…'");
}

TEST(GoalReader, AnswersEveryDamagedTextWithAScheduleOrAnInputError) {
    const std::string sound =
        "num_ranks 3\nrank 0 {\na: calc 10 cpu 1\nb: send 10b to 1 tag 3 nic 2 // far\nb requires a\n}\n"
        "rank 1 {\nr: recv 10b from -1 tag -1\ns: send 4b to 2\ns irequires r /* at\nonce */\n}\nrank 2 {\nrecv 4b "
        "from 1\nput 9b to 0 tag 1\nget 8b from 1\nawait from -1\nlock at 2 tag 1\nunlock at 2 tag 1\n}\n";
    const std::string pieces[] = {"-1",   "{",          "}", "/*",       "*/",     "//",  "\n", "rank",
                                  "send", "4294967295", ":", "requires", "unlock", "put", "at", "shared_lock"};
    Dice dice(1);
    int refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string text = sound;
        for (std::uint64_t n = 1 + dice.roll(4); n > 0; --n) {
            const std::size_t at = dice.roll(text.size());
            switch (dice.roll(4)) {
                case 0:
                    text[at] = static_cast<char>(dice.roll(256));
                    break;
                case 1:
                    text.erase(at, 1 + dice.roll(6));
                    break;
                case 2:
                    text.insert(at, pieces[dice.roll(std::size(pieces))]);
                    break;
                default:
                    text.insert(at, text.substr(dice.roll(text.size()), dice.roll(30)));
            }
            text += text.empty() ? "x" : "";
        }
        try {
            ASSERT_GE(read_goal(text, "text").ranks(), 1U);
        } catch (const InputError& error) {
            ASSERT_EQ(std::string_view(error.what()).substr(0, 5), "text:");
            ++refused;
        }
    }
    EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace idlewave::goal
