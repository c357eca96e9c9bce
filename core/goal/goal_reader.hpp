#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "goal/goal_lexer.hpp"
#include "goal/graph.hpp"
#include "goal/label_table.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::goal {

/// Reads a schedule in GOAL text (Hoefler, Siebert, Lumsdaine: "Group Operation Assembly Language", ICPP'09), rank by
/// rank. It accepts all that LogGOPSim's txt2bin accepts, with the same meaning, and more: docs/goal-format.md lists
/// the differences. Errors are InputErrors `name:line:column: expected …, found …`.
class GoalReader {
  public:
    /// `name` is the name of the text in messages, usually its file.
    GoalReader(GoalText text, const std::string& name);

    /// The number of ranks; 0 before the first `next`.
    [[nodiscard]] std::uint32_t ranks() const { return ranks_.value_or(0); }

    /// Reads the next rank. False after the last rank; the text is then at its end.
    bool next(RankSchedule& rank);

  private:
    enum class Glued : std::uint8_t { no, digit, letter };  ///< characters that may follow a keyword without a blank

    void header();
    void number_of_ranks();
    void body(RankSchedule& rank);
    void statement(RankSchedule& rank);
    void labelled_op(RankSchedule& rank, std::string_view label);
    void op(RankSchedule& rank, OpKind kind, std::string_view label);
    [[nodiscard]] bool begins_op(OpKind kind) const;
    void message(Op& op);
    void before_peer(OpKind kind);
    void attributes(Op& op);
    static const char* attributes_of(OpKind kind);
    void tag(Op& op);
    void dependency(RankSchedule& rank, const Token& label);
    void end_of_rank(const RankSchedule& rank);

    [[nodiscard]] bool at(std::string_view keyword, Glued glued) const;
    bool take(std::string_view keyword, Glued glued);
    void expect(std::string_view keyword, Glued glued, const char* what);
    void skip_line_ends();
    void line_end();
    std::uint64_t integer(const char* what, std::uint64_t largest);
    void minus_one(const char* what);
    [[nodiscard]] OpIndex index_of(const Token& label) const;

    Lexer lexer_;
    LabelTable labels_;
    std::string first_word_;  ///< the first word of the statement
    std::optional<std::uint32_t> ranks_;
    std::uint32_t read_ = 0;    ///< number of ranks read
    bool ranks_known_ = false;  ///< ranks_ was known when the rank began, so its peers have been checked
};

/// Reads a whole text. Throws the same errors as GoalReader.
Graph read_goal(std::string_view text, const std::string& name);

}  // namespace idlewave::goal
