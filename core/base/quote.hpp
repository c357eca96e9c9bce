#pragma once

#include <string>
#include <string_view>

namespace idlewave {

/// `text` with control characters, invisible characters and bytes that are not UTF-8 written out: \x1b, \u202e. Ends of
/// lines and tabs stay.
std::string printable(std::string_view text);

/// The first 200 characters of `text`, printable, in one line, and … if there are more: for labels and words of files.
std::string shown(std::string_view text);

/// The same in quotation marks, for messages that show what was found.
std::string quote(std::string_view text);

/// The name of a file or folder as messages show it: printable, in one line, and only the end of a very long name.
std::string file_name(std::string_view path);

}  // namespace idlewave
