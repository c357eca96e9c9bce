#include "loggops/slope_table.hpp"

namespace idlewave::loggops {
namespace {

/// The most steps and ties that the table may hold. With their slopes they take some 160 MB.
constexpr std::size_t most_items = 1 << 17;
/// After this many new items the table checks whether sharing pays: an item that served fewer messages than
/// `fewest_messages` costs more than slopes of each moment's own.
constexpr std::size_t items_to_check = 1 << 10;
constexpr std::uint64_t fewest_messages = 8;
/// Each activity searches a list of steps. Ties are rarer, so their lists may be longer.
constexpr std::uint32_t most_steps = 64;
constexpr std::uint32_t most_ties = 512;

/// Ties are added at the head of their list; steps behind the head, which is part of the entry.
std::uint32_t length_of(const SlopeTie* first) {
    return first == nullptr ? 0 : first->number + 1;
}
std::uint32_t length_of(const SlopeStep& first) {
    if (first.traits.load(std::memory_order_relaxed) == SlopeStep::not_made) {
        return 0;
    }
    const SlopeStep* next = first.next.load(std::memory_order_relaxed);
    return next == nullptr ? 1 : next->number + 1;
}

}  // namespace

SlopeTable::SlopeTable(bool with_c) : with_c_(with_c), zero_(intern({})), next_check_(items_to_check) {}

std::size_t SlopeTable::Hash::operator()(const AllSlopes& slopes) const {
    // Odd constants of many bits: the fractions of the golden ratio and of the square root of 3.
    std::uint64_t hash = 0;
    for (const SlopeWordPair& words : slopes.words) {
        hash = (hash ^ words[0]) * 0x9e3779b97f4a7c15U;
        hash = (hash ^ (hash >> 32) ^ words[1]) * 0xbb67ae8584caa73bU;
    }
    return hash ^ (hash >> 32);
}

InternedSlopes* SlopeTable::intern(const AllSlopes& slopes) {
    if (const auto found = found_.find(slopes); found != found_.end()) {
        return *found;
    }
    InternedSlopes& added = *make<InternedSlopes>();
    added.slopes = slopes;
    added.slopes.time = 0;
    added.table = this;
    found_.insert(&added);
    return &added;
}

void SlopeTable::refuse_too_many(std::uint32_t steps, MessageCount& messages) {
    messages_ += messages.sent - messages.counted;
    messages.counted = messages.sent;
    if (tie_list_full_ || steps >= most_steps || items_ >= most_items) {
        throw TooManySlopes();
    }
    if (items_ >= next_check_) {
        if (messages_ - messages_at_check_ < fewest_messages * items_to_check) {
            throw TooManySlopes();
        }
        next_check_ = items_ + items_to_check;
        messages_at_check_ = messages_;
    }
}

const SlopeStep& SlopeTable::add_step(InternedSlopes& from, const Activity& activity, MessageCount& messages) {
    using Rules = FullDifferentiation;
    const std::lock_guard lock(mutex_);
    if (const SlopeStep* known = find_step(from, activity)) {
        return *known;
    }
    SlopeStep& first = from.steps[static_cast<std::size_t>(activity.kind)];
    const std::uint32_t number = length_of(first);
    refuse_too_many(number, messages);
    SlopeStep& step = number == 0 ? first : *make<SlopeStep>();
    step.number = number;
    step.amount = activity.amount;
    const Rules::ActivityRef ref = Rules::begin(0, from.slopes, activity, messages);
    const auto at = [&](Point point) { return intern(Rules::at(ref, point, 0)); };
    switch (activity.kind) {
        case ActivityKind::computation:
            step.cpu = at(Point::computed);
            break;
        case ActivityKind::posting:
            step.cpu = at(Point::posted);
            break;
        case ActivityKind::transmission:
            step.cpu = at(Point::sender_free);
            step.nic = at(Point::sender_gap);
            step.message = intern(Rules::annotate(ref));
            step.completion = with_c_ ? at(Point::completed) : step.cpu;
            break;
        case ActivityKind::reception:
            step.cpu = at(Point::receiver_free);
            step.nic = at(Point::receiver_gap);
            step.message = at(Point::last_byte);
            break;
        case ActivityKind::initiation:
        case ActivityKind::landing:
        case ActivityKind::nic_transmission:
            break;  // of one-sided operations, which SharedDifferentiation refuses
    }
    step.traits.store(traits_of(activity), std::memory_order_release);
    if (number > 0) {
        step.next.store(first.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
        first.next.store(&step, std::memory_order_release);
    }
    ++items_;
    return step;
}

InternedSlopes* SlopeTable::find_tie(const InternedSlopes& a, const InternedSlopes& b) {
    const SlopeTie* tie = a.ties.load(std::memory_order_acquire);
    while (tie != nullptr && tie->other != &b) {
        tie = tie->next;
    }
    return tie == nullptr ? nullptr : tie->steepest;
}

InternedSlopes* SlopeTable::steepest(InternedSlopes& a, InternedSlopes& b) {
    const AllSlopes both = AllSlopes::steepest(a.slopes, b.slopes);
    if (both.has_slopes_of(a.slopes)) {
        return &a;
    }
    if (both.has_slopes_of(b.slopes)) {
        return &b;
    }
    if (InternedSlopes* known = find_tie(a, b)) {
        return known;
    }
    const std::lock_guard lock(mutex_);
    if (InternedSlopes* known = find_tie(a, b)) {
        return known;
    }
    const SlopeTie* first = a.ties.load(std::memory_order_relaxed);
    auto* tie = make<SlopeTie>();
    *tie = {.other = &b, .steepest = intern(both), .next = first, .number = length_of(first)};
    tie_list_full_ = tie_list_full_ || tie->number >= most_ties;
    a.ties.store(tie, std::memory_order_release);
    ++items_;
    return tie->steepest;
}

}  // namespace idlewave::loggops
