#pragma once

#include <string>
#include <string_view>

#include "goal/graph.hpp"

namespace idlewave {

/// Reads a schedule in GOAL text (Hoefler, Siebert, Lumsdaine: "Group Operation Assembly Language", ICPP'09), in the
/// grammar that LogGOPSim's tools accept; comments may also stand behind a statement, and attributes in any order.
/// `name` is what messages call the text, usually its file. Throws InputError `name:line:column: expected …, found …`.
Graph read_goal(std::string_view text, const std::string& name);

}  // namespace idlewave
