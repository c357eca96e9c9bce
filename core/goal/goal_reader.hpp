#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "goal/goal_lexer.hpp"
#include "goal/graph.hpp"
#include "goal/label_table.hpp"
#include "goal/listing.hpp"

namespace idlewave {

/// Reads a schedule in GOAL text (Hoefler, Siebert, Lumsdaine: "Group Operation Assembly Language", ICPP'09), rank by
/// rank. What LogGOPSim's txt2bin accepts is read with the same meaning, and some more; docs/goal-format.md says where
/// they differ. Errors are InputErrors `name:line:column: expected …, found …`.
class GoalReader {
  public:
    /// `name` is what messages call the text, usually its file.
    GoalReader(GoalText text, const std::string& name);

    /// How many ranks there are; known from the first `next` on.
    [[nodiscard]] std::uint32_t ranks() const { return ranks_.value_or(0); }

    /// Reads the next rank. False if there are no more; then the text has ended, and every rank was there.
    bool next(Listing& rank);

  private:
    enum class Glued : std::uint8_t { no, digit, letter };  ///< what may follow a keyword without a blank

    void header();
    void number_of_ranks();
    void body(Listing& rank);
    void statement(Listing& rank);
    void labelled_op(Listing& rank, std::string_view label);
    void op(Listing& rank, OpKind kind, std::string_view label);
    void message(Op& op);
    void attributes(Op& op);
    void tag(Op& op);
    void dependency(Listing& rank, const Token& label);
    void end_of_rank(const Listing& rank);

    [[nodiscard]] bool at(std::string_view keyword, Glued glued) const;
    bool take(std::string_view keyword, Glued glued);
    void expect(std::string_view keyword, Glued glued, const char* what);
    void skip_line_ends();
    void line_end();
    std::uint64_t integer(const char* what, std::uint64_t largest);
    void minus_one(const char* what);
    [[nodiscard]] Place place_of(const Token& label) const;

    Lexer lexer_;
    LabelTable labels_;
    std::string first_word_;  ///< of the statement
    std::optional<std::uint32_t> ranks_;
    std::uint32_t read_ = 0;    ///< ranks
    bool ranks_known_ = false;  ///< since the rank began, so that its peers were checked
};

/// Reads a whole text. Throws InputError as GoalReader.
Graph read_goal(std::string_view text, const std::string& name);

}  // namespace idlewave
