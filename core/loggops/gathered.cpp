#include "loggops/gathered.hpp"

#include <algorithm>
#include <string>

#include "base/archive.hpp"
#include "pdes/exchange.hpp"

namespace idlewave {
namespace {

void pack(const std::string& text, Packer& packer) {
    packer(static_cast<std::uint32_t>(text.size()));
    std::for_each(text.begin(), text.end(), packer);
}

std::string unpack_text(Unpacker& unpacker) {
    std::string text(unpacker.next<std::uint32_t>(), ' ');
    for (char& character : text) {
        unpacker(character);
    }
    return text;
}

}  // namespace

void Gathered::add(std::uint32_t rank, Time finish) {
    Packer packer(image_.open(0));
    packer(Item::finish);
    packer(rank);
    packer(finish);
}

void Gathered::add(const Waiting& waiting) {
    Packer packer(image_.open(0));
    packer(Item::waiting);
    packer(waiting.rank);
    pack(waiting.op, packer);
    pack(waiting.why, packer);
}

std::vector<Waiting> Gathered::gather(const pdes::Crew& crew, std::uint32_t ranks, std::vector<Time>& finish) {
    if (crew.wire != nullptr) {
        pdes::exchange(image_, *crew.wire, crew.threads);
        if (crew.wire->process != 0) {
            return {};
        }
    }
    finish.resize(ranks);
    std::vector<Waiting> waiting;
    for (pdes::Image::Piece& piece : image_.of(0)) {
        Unpacker unpacker(piece);
        while (!unpacker.done()) {
            const auto item = unpacker.next<Item>();
            const auto rank = unpacker.next<std::uint32_t>();
            if (item == Item::finish) {
                unpacker(finish.at(rank));
            } else {
                Waiting& one = waiting.emplace_back(Waiting{rank, unpack_text(unpacker), {}});
                one.why = unpack_text(unpacker);
            }
        }
        piece = {};
    }
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const Waiting& a, const Waiting& b) { return a.rank < b.rank; });
    return waiting;
}

}  // namespace idlewave
