#include "loggops/simulate.hpp"

#include <algorithm>
#include <utility>

namespace idlewave {

void sort_records(std::vector<OpRecord>& records) {
    std::sort(records.begin(), records.end(), [](const OpRecord& a, const OpRecord& b) {
        return std::pair(a.rank, a.place) < std::pair(b.rank, b.place);
    });
}

}  // namespace idlewave
