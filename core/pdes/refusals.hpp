#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace idlewave::pdes {

/// A model sends what it may not: to an LP that does not exist, or too early, for which `why` says the rule. Throws
/// LogicError.
[[noreturn]] void refuse_event(std::uint32_t lp, std::uint32_t destination, Time time, std::uint32_t lps,
                               const char* why);

/// An LP sends more events than can be numbered. Throws InputError.
[[noreturn]] void refuse_more_events(std::uint32_t lp);

}  // namespace idlewave::pdes
