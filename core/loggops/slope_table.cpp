#include "loggops/slope_table.hpp"

namespace idlewave {
namespace {

/// How many steps and ties the table may hold: with the slopes to which they lead some 100 MB.
constexpr std::size_t most_items = 1 << 17;
/// After so many it is asked whether sharing pays: whether there were this many messages for each. What is made for
/// fewer costs more than if each moment had its own.
constexpr std::size_t items_to_check = 1 << 10;
constexpr std::uint64_t fewest_messages = 8;
/// A list of steps is gone through for each activity, one of ties more seldom: most things do not come at one time.
constexpr std::uint32_t most_steps = 64;
constexpr std::uint32_t most_ties = 512;

template <class Item>
std::uint32_t length_of(const Item* first) {
    return first == nullptr ? 0 : first->number + 1;
}

}  // namespace

SlopeTable::SlopeTable() : none_(known({})), next_check_(items_to_check) {}

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
    const auto number = static_cast<std::uint32_t>(known_.size());
    KnownSlopes& added = known_.emplace_back();
    added.number = number;
    added.slopes = slopes;
    added.slopes.time = 0;
    added.table = this;
    found_.insert(&added);
    return &added;
}

void SlopeTable::refuse_too_many(const SlopeStep* list, MessageCount& messages) {
    messages_ += messages.sent - messages.counted;
    messages.counted = messages.sent;
    const std::size_t items = steps_.size() + ties_.size();
    if (crowded_ || length_of(list) >= most_steps || items >= most_items) {
        throw TooManySlopes();
    }
    if (items >= next_check_) {
        if (messages_ - messages_at_check_ < fewest_messages * items_to_check) {
            throw TooManySlopes();
        }
        next_check_ = items + items_to_check;
        messages_at_check_ = messages_;
    }
}

const SlopeStep& SlopeTable::add_step(KnownSlopes& from, const Activity& activity, MessageCount& messages) {
    using Rules = Differentiation<2>;
    const std::lock_guard lock(mutex_);
    if (const SlopeStep* known = find_step(from, activity)) {
        return *known;
    }
    auto& steps = from.steps[static_cast<std::size_t>(activity.doing)];
    const SlopeStep* first = steps.load(std::memory_order_relaxed);
    refuse_too_many(first, messages);
    SlopeStep step{.size = activity.size, .traits = traits_of(activity), .number = length_of(first), .next = first};
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
                       .number = length_of(first)};
    crowded_ = crowded_ || tie.number >= most_ties;
    a.ties.store(&ties_.emplace_back(tie), std::memory_order_release);
    return tie.steepest;
}

}  // namespace idlewave
