#include "standstill/left.hpp"

#include <algorithm>
#include <tuple>

namespace idlewave {
namespace {

bool comes_before(const UnexpectedMessage& a, const UnexpectedMessage& b) {
    return std::tuple(a.receiver, a.number) < std::tuple(b.receiver, b.number);
}

}  // namespace

void Left::add(const UnexpectedMessage& message) {
    ++message_count_;
    messages_.push_back(message);
    if (messages_.size() == 2 * most_messages) {
        drop_messages();
    }
}

void Left::drop_messages() {
    if (messages_.size() > most_messages) {
        const auto end = messages_.begin() + most_messages;
        std::nth_element(messages_.begin(), end, messages_.end(), comes_before);
        messages_.erase(end, messages_.end());
    }
}

void Left::sort() {
    drop_messages();
    std::sort(messages_.begin(), messages_.end(), comes_before);
    std::sort(pending_.begin(), pending_.end(), [](const PendingOp& a, const PendingOp& b) {
        return std::tuple(a.rank, a.kind, a.op_index) < std::tuple(b.rank, b.kind, b.op_index);
    });
    std::sort(stuck_.begin(), stuck_.end(), [](const StuckRank& a, const StuckRank& b) { return a.rank < b.rank; });
}

}  // namespace idlewave
