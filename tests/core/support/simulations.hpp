#pragma once

#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "collectives/threaded_program.hpp"
#include "goal/graph.hpp"
#include "loggops/recorder.hpp"
#include "loggops/shared_slopes.hpp"
#include "loggops/simulation.hpp"
#include "loggops/slopes.hpp"

/// What the simulations of the tests need to be called. They are instantiated once, in loggops/simulations_….cpp, since
/// each takes a compiler many seconds; the linker names one that is missing there, or whose file
/// CMakeLists.txt does not list for the folder of tests.
