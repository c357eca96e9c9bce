#include "loggops/rank_results.hpp"

#include "base/archive.hpp"
#include "pdes/exchange.hpp"
#include "pdes/segmented_run.hpp"

namespace idlewave {

template <class... T>
void RankResults::put(Item item, const T&... values) {
    Serialiser serialiser(snapshot_.open(0));
    serialiser(item);
    (serialiser(values), ...);
}

void RankResults::add(std::uint32_t rank, Time finish) {
    put(Item::finish, rank, finish);
}

void RankResults::add(const Unfinished& unfinished) {
    for (const PendingOp& op : unfinished.pending()) {
        put(Item::pending, op);
    }
    for (const UnfinishedRank& rank : unfinished.ranks()) {
        put(Item::stuck, rank);
    }
    for (const UnexpectedMessage& message : unfinished.messages()) {
        put(Item::message, message);
    }
    if (const std::uint64_t more = unfinished.message_count() - unfinished.messages().size(); more > 0) {
        put(Item::dropped, more);
    }
}

Unfinished RankResults::gather(const pdes::RunConfiguration& configuration, std::uint32_t ranks,
                               std::vector<Time>& finish) {
    if (configuration.transport != nullptr) {
        pdes::exchange(snapshot_, *configuration.transport, configuration.threads);
        if (configuration.transport->process != 0) {
            return {};
        }
    }
    finish.resize(ranks);
    Unfinished unfinished;
    for (pdes::Snapshot::Section& section : snapshot_.of(0)) {
        Deserialiser deserialiser(section);
        while (!deserialiser.done()) {
            switch (deserialiser.next<Item>()) {
                case Item::finish:
                    deserialiser(finish.at(deserialiser.next<std::uint32_t>()));
                    break;
                case Item::pending:
                    unfinished.add(deserialiser.next<PendingOp>());
                    break;
                case Item::stuck:
                    unfinished.add(deserialiser.next<UnfinishedRank>());
                    break;
                case Item::message:
                    unfinished.add(deserialiser.next<UnexpectedMessage>());
                    break;
                case Item::dropped:
                    unfinished.add_dropped(deserialiser.next<std::uint64_t>());
                    break;
            }
        }
        section = {};
    }
    return unfinished;
}

}  // namespace idlewave
