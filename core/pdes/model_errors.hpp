#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.hpp"

namespace idlewave::pdes {

/// Reports an event that a model may not send: to an LP that does not exist, or too early, where `why` names the rule;
/// `unit`: of the model's times. Throws LogicError.
[[noreturn]] void throw_invalid_send(std::uint32_t lp, std::uint32_t destination, Time time, std::string_view unit,
                                     std::uint32_t lps, const char* why);

/// Reports that an LP sends more events than can be numbered. Throws InputError.
[[noreturn]] void throw_too_many_events(std::uint32_t lp);

/// Reports a model that declares that it needs a lookahead, where it has none. Throws InputError.
[[noreturn]] void throw_needs_lookahead();

}  // namespace idlewave::pdes
