#include "standstill/unfinished.hpp"

#include <algorithm>
#include <tuple>

namespace idlewave::standstill {
namespace {

bool comes_before(const UnexpectedMessage& a, const UnexpectedMessage& b) {
    return std::tuple(a.receiver, a.number) < std::tuple(b.receiver, b.number);
}

}  // namespace

void Unfinished::add(const UnexpectedMessage& message) {
    ++message_count_;
    messages_.push_back(message);
    if (messages_.size() == 2 * most_messages) {
        drop_messages();
    }
}

void Unfinished::drop_messages() {
    if (messages_.size() > most_messages) {
        const auto end = messages_.begin() + most_messages;
        std::nth_element(messages_.begin(), end, messages_.end(), comes_before);
        messages_.erase(end, messages_.end());
    }
}

void Unfinished::sort() {
    drop_messages();
    std::sort(messages_.begin(), messages_.end(), comes_before);
    std::sort(pending_.begin(), pending_.end(), [](const PendingOp& a, const PendingOp& b) {
        return std::tuple(a.rank, a.kind, a.op_index) < std::tuple(b.rank, b.kind, b.op_index);
    });
    std::sort(ranks_.begin(), ranks_.end(),
              [](const UnfinishedRank& a, const UnfinishedRank& b) { return a.rank < b.rank; });
}

}  // namespace idlewave::standstill
