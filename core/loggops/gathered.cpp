#include "loggops/gathered.hpp"

#include "base/archive.hpp"
#include "pdes/exchange.hpp"
#include "pdes/segmented_run.hpp"

namespace idlewave {

template <class... T>
void Gathered::put(Item item, const T&... values) {
    Serialiser packer(snapshot_.open(0));
    packer(item);
    (packer(values), ...);
}

void Gathered::add(std::uint32_t rank, Time finish) {
    put(Item::finish, rank, finish);
}

void Gathered::add(const Left& left) {
    for (const PendingOp& op : left.pending()) {
        put(Item::pending, op);
    }
    for (const StuckRank& rank : left.stuck()) {
        put(Item::stuck, rank);
    }
    for (const UnexpectedMessage& message : left.messages()) {
        put(Item::message, message);
    }
    if (const std::uint64_t more = left.message_count() - left.messages().size(); more > 0) {
        put(Item::dropped, more);
    }
}

Left Gathered::gather(const pdes::RunConfiguration& configuration, std::uint32_t ranks, std::vector<Time>& finish) {
    if (configuration.transport != nullptr) {
        pdes::exchange(snapshot_, *configuration.transport, configuration.threads);
        if (configuration.transport->process != 0) {
            return {};
        }
    }
    finish.resize(ranks);
    Left left;
    for (pdes::Snapshot::Part& part : snapshot_.of(0)) {
        Deserialiser unpacker(part);
        while (!unpacker.done()) {
            switch (unpacker.next<Item>()) {
                case Item::finish:
                    unpacker(finish.at(unpacker.next<std::uint32_t>()));
                    break;
                case Item::pending:
                    left.add(unpacker.next<PendingOp>());
                    break;
                case Item::stuck:
                    left.add(unpacker.next<StuckRank>());
                    break;
                case Item::message:
                    left.add(unpacker.next<UnexpectedMessage>());
                    break;
                case Item::dropped:
                    left.add_dropped(unpacker.next<std::uint64_t>());
                    break;
            }
        }
        part = {};
    }
    return left;
}

}  // namespace idlewave
