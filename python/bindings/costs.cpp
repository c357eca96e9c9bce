#include "machine/costs.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings.hpp"
#include "columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

using Sizes = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The costs of messages of several sizes on one level.
struct CostTable {
    std::vector<machine::Costs> rows;
};

CostTable costs_of(const machine::Level& level, const Sizes& sizes) {
    CostTable table;
    table.rows.reserve(sizes.shape(0));
    for (std::size_t i = 0; i < sizes.shape(0); ++i) {
        table.rows.push_back(machine::costs(level, sizes(i)));
    }
    return table;
}

template <Time machine::Costs::* member>
nb::object times(const CostTable& table) {
    return column_of<std::int64_t>(table.rows, [](const machine::Costs& c) { return c.*member; });
}

template <Time machine::Costs::* member>
void bind(nb::class_<CostTable>& table, const char* name, const char* signature) {
    table.def_prop_ro(name, &times<member>, nb::for_getter(nb::sig(signature)));
}

}  // namespace

void bind_costs(nb::module_& m) {
    nb::class_<CostTable> table(m, "Costs", "The costs of messages by size, ps.");
    bind<&machine::Costs::o_s>(table, "o_s", "def o_s(self) -> numpy.typing.NDArray[numpy.int64]");
    bind<&machine::Costs::o_r>(table, "o_r", "def o_r(self) -> numpy.typing.NDArray[numpy.int64]");
    bind<&machine::Costs::L>(table, "L", "def L(self) -> numpy.typing.NDArray[numpy.int64]");
    bind<&machine::Costs::over_s>(table, "over_s", "def over_s(self) -> numpy.typing.NDArray[numpy.int64]");
    bind<&machine::Costs::over_r>(table, "over_r", "def over_r(self) -> numpy.typing.NDArray[numpy.int64]");
    bind<&machine::Costs::bytes>(table, "bytes", "def bytes(self) -> numpy.typing.NDArray[numpy.int64]");
    bind<&machine::Costs::gap>(table, "gap", "def gap(self) -> numpy.typing.NDArray[numpy.int64]");
    m.def("costs", &costs_of, "level"_a, "sizes"_a,
          "The costs of messages of these sizes in bytes: `over_s` is kO_s, `over_r` kO_r, `bytes` kG, `gap` g + kG.");
}

}  // namespace idlewave
