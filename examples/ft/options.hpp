// The command line.
#pragma once

#include <span>
#include <string>

#include "decomposition.hpp"
#include "exchange.hpp"
#include "problem.hpp"

namespace ft {

struct Options {
    const Problem* problem = nullptr;
    Shape shape;
    Way way = Way::alltoall;
    int iterations = 0;
    bool json = false;
    bool help = false;
    std::string wrong;  // why the command line is refused; empty if it is not
};

// `words` without the program's name; by default all ranks are in a row, which is a 1-D decomposition.
Options read_options(std::span<char* const> words, int ranks);

const char* usage();

}  // namespace ft
