#include "goal/idg_writer.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/crc32c.hpp"
#include "goal/rank_block.hpp"

namespace idlewave::goal {

IdgWriter::IdgWriter(OutputFile& out) : out_(out) {
    std::array<std::byte, idg::header_size> header{};
    std::byte* end = store(store(header.data(), idg::magic), idg::version);
    store(end, crc32c(std::span(header).first(idg::header_size - 4)));
    out_.append(header);
}

void IdgWriter::add_block(std::span<const std::uint64_t> words) {
    const RankBlock block(words.data());
    const RankBlock::Limits limits = block.limits();
    footer_.ops += block.size();
    footer_.highest_cpu = std::max(footer_.highest_cpu, limits.cpu);
    footer_.highest_nic = std::max(footer_.highest_nic, limits.nic);
    const auto bytes = std::as_bytes(words);
    table_.push_back({.begin = out_.size(), .crc = crc32c(bytes)});
    out_.append(bytes);
}

void IdgWriter::finish() {
    const auto table = std::as_bytes(std::span(table_));
    footer_.table = out_.size();
    footer_.ranks = static_cast<std::uint32_t>(table_.size());
    footer_.table_crc = crc32c(table);
    footer_.crc = crc32c(std::as_bytes(std::span(&footer_, 1)).first(idg::footer_checksummed));
    out_.append(table);
    out_.append(std::as_bytes(std::span(&footer_, 1)));
}

}  // namespace idlewave::goal
