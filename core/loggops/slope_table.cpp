#include "loggops/slope_table.hpp"

namespace idlewave {
namespace {

/// What the table may hold: some 100 MB.
constexpr std::size_t most_known = 1 << 18;
/// Slopes that are made for few messages cost more than those of each moment's own. That is not asked of the first
/// ones.
constexpr std::uint64_t fewest_messages = 8;
constexpr std::size_t first_known = 1 << 10;
/// A list is gone through for each activity.
constexpr std::uint32_t longest_list = 64;

/// The place of a list's next item.
template <class Item>
std::uint32_t next_number(const Item* first) {
    const std::uint32_t number = first == nullptr ? 0 : first->number + 1;
    if (number == longest_list) {
        throw TooManySlopes();
    }
    return number;
}

}  // namespace

SlopeTable::SlopeTable() : none_(known({})) {}

std::size_t SlopeTable::Hash::operator()(const KnownSlopes* known) const {
    // Odd constants of many bits: the fractions of the golden ratio and of the square root of 3.
    std::uint64_t hash = 0;
    for (const SlopeWords& words : known->slopes.words) {
        hash = (hash ^ words[0]) * 0x9e3779b97f4a7c15U;
        hash = (hash ^ (hash >> 32) ^ words[1]) * 0xbb67ae8584caa73bU;
    }
    return hash ^ (hash >> 32);
}

KnownSlopes* SlopeTable::known(const Slopes<2>& slopes) {
    KnownSlopes sought;
    sought.slopes = slopes;
    if (const auto found = found_.find(&sought); found != found_.end()) {
        return *found;
    }
    if (known_.size() == most_known) {
        throw TooManySlopes();
    }
    KnownSlopes& added = known_.emplace_back();
    added.slopes = slopes;
    added.slopes.time = 0;
    added.table = this;
    found_.insert(&added);
    return &added;
}

const SlopeStep& SlopeTable::add_step(KnownSlopes& from, const Activity& activity, std::uint64_t messages) {
    using Rules = Differentiation<2>;
    const std::lock_guard lock(mutex_);
    if (const SlopeStep* known = find_step(from, activity)) {
        return *known;
    }
    if (known_.size() > first_known && known_.size() > messages / fewest_messages) {
        throw TooManySlopes();
    }
    auto& steps = from.steps[static_cast<std::size_t>(activity.doing)];
    SlopeStep step{.size = activity.size, .traits = traits_of(activity)};
    step.next = steps.load(std::memory_order_relaxed);
    step.number = next_number(step.next);
    const Rules::Begun begun = Rules::begin(0, from.slopes, activity, messages);
    const auto at = [&](Point point) { return known(Rules::at(begun, point, 0)); };
    switch (activity.doing) {
        case Doing::computation:
            step.cpu = at(Point::computed);
            break;
        case Doing::transmission:
            step.cpu = at(Point::sender_free);
            step.nic = at(Point::sender_gap);
            step.message = known(Rules::post(begun));
            break;
        case Doing::reception:
            step.cpu = at(Point::receiver_free);
            step.nic = at(Point::receiver_gap);
            step.message = at(Point::wire);
            break;
    }
    const SlopeStep& added = steps_.emplace_back(step);
    steps.store(&added, std::memory_order_release);
    return added;
}

KnownSlopes* SlopeTable::find_tie(const KnownSlopes& a, const KnownSlopes& b) {
    const SlopeTie* tie = a.ties.load(std::memory_order_acquire);
    while (tie != nullptr && tie->other != &b) {
        tie = tie->next;
    }
    return tie == nullptr ? nullptr : tie->steepest;
}

KnownSlopes* SlopeTable::steepest(KnownSlopes& a, KnownSlopes& b) {
    if (&a == &b) {
        return &a;
    }
    if (KnownSlopes* known = find_tie(a, b)) {
        return known;
    }
    const std::lock_guard lock(mutex_);
    if (KnownSlopes* known = find_tie(a, b)) {
        return known;
    }
    const SlopeTie* first = a.ties.load(std::memory_order_relaxed);
    const SlopeTie tie{.other = &b,
                       .steepest = known(Slopes<2>::steepest(a.slopes, b.slopes)),
                       .next = first,
                       .number = next_number(first)};
    a.ties.store(&ties_.emplace_back(tie), std::memory_order_release);
    return tie.steepest;
}

}  // namespace idlewave
