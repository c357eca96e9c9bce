#include "base/quote.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace idlewave {
namespace {

TEST(Quote, ControlsAndDirectionsOfWritingAreWrittenOut) {
    EXPECT_EQ(quote("a\x1b[31mb\n"), "'a\\x1b[31mb\\x0a'");
    EXPECT_EQ(quote(std::string("a\0b", 3)), "'a\\x00b'");
    EXPECT_EQ(quote("\u202e\u2066\u0085"), "'\\u202e\\u2066\\x85'");
    EXPECT_EQ(quote("J\u00fclich \U0001f4bb"), "'J\u00fclich \U0001f4bb'");
}

TEST(Quote, BytesThatAreNotUtf8AreWrittenOut) {
    EXPECT_EQ(shown("\xff\x80z"), "\\xff\\x80z");
    EXPECT_EQ(shown("\xc0\xaf"), "\\xc0\\xaf");                    // longer than need be
    EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a surrogate
    EXPECT_EQ(shown("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
    EXPECT_EQ(shown("\xe2\x82"), "\\xe2\\x82");                    // cut off
}

TEST(Quote, WhatIsLongIsCutAfter200Characters) {
    EXPECT_EQ(quote(std::string(200, 'x')), "'" + std::string(200, 'x') + "'");
    EXPECT_EQ(quote(std::string(201, 'x')), "'" + std::string(200, 'x') + "…'");
    EXPECT_EQ(file_name(std::string(5000, 'x') + "/end"), "…" + std::string(996, 'x') + "/end");
}

TEST(Quote, AnErrorsMessageKeepsItsLinesAndNothingElse) {
    EXPECT_STREQ(InputError("one\n\ttwo\x1b").what(), "one\n\ttwo\\x1b");
}

}  // namespace
}  // namespace idlewave
