#pragma once

#include <string>
#include <string_view>

namespace idlewave {

/// `text` without what acts on a terminal or cannot be seen (controls, directions of writing, bytes that are not
/// UTF-8), which is written out: \x1b, \u202e. Ends of lines and tabs stay.
std::string printable(std::string_view text);

/// The first 200 characters of `text`, printable, in one line, with … for what is left: a label, a word of a file.
std::string shown(std::string_view text);

/// The same in quotes: what a message shows of what was found.
std::string quote(std::string_view text);

/// The name of a file or folder as messages show it, in one line; of a very long one the end.
std::string file_name(std::string_view path);

}  // namespace idlewave
