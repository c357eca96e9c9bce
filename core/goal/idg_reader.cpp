#include "goal/idg_reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "base/crc32c.hpp"
#include "base/error.hpp"
#include "goal/rank_block.hpp"

namespace idlewave::goal {
namespace {

std::string versus(std::uint64_t expected, std::uint64_t found) {
    return std::to_string(expected) + ", found " + std::to_string(found);
}

}  // namespace

IdgReader::IdgReader(const InputFile& file)
    : file_(file), table_(file, FileWindow::ahead_in_table), body_(file, FileWindow::ahead_in_body) {
    if (!file.regular()) {
        throw InputError(file.name() + ": expected a file that can be read anywhere, found a pipe or device");
    }
    if (file.size() < idg::header_size + idg::footer_size) {
        fail(0, "at least " + versus(idg::header_size + idg::footer_size, file.size()) + " bytes; it is cut off");
    }
    check_header();
    read_footer();
    check_table();
}

void IdgReader::check_header() {
    const auto header = body_.view(0, idg::header_size);
    if (load<idg::MagicNumber>(header.data()) != idg::magic) {
        fail(0, "the first eight bytes of a .idg file, found others");
    }
    const auto version = load<std::uint32_t>(header.data() + 8);
    const auto crc = load<std::uint32_t>(header.data() + 12);
    if (crc != crc32c(header.first(12))) {
        fail(12, "the header's checksum " + versus(crc32c(header.first(12)), crc));
    }
    if (version < idg::oldest_version || version > idg::version) {
        const char* advice = version > idg::version ? "; a later Idlewave may read it" : "; write it anew";
        fail(8, "version " + versus(idg::version, version) + advice);
    }
}

void IdgReader::read_footer() {
    const std::uint64_t begin = file_.size() - idg::footer_size;
    const auto bytes = table_.view(begin, idg::footer_size);
    footer_ = load<idg::Footer>(bytes.data());
    if (footer_.magic != idg::end_magic) {
        fail(begin + 32, "the last eight bytes of a .idg file, found others; it is cut off");
    }
    const std::uint32_t crc = crc32c(bytes.first(idg::footer_checksummed));
    if (footer_.crc != crc) {
        fail(begin + idg::footer_checksummed, "the footer's checksum " + versus(crc, footer_.crc));
    }
    if (footer_.ranks == 0 || footer_.ranks > most_ranks) {
        fail(begin + 16, "from 1 to " + versus(most_ranks, footer_.ranks) + " ranks");
    }
    const std::uint64_t table_size = sizeof(idg::Entry) * std::uint64_t{footer_.ranks};
    if (table_size > begin - idg::header_size || footer_.table != begin - table_size) {
        fail(begin, "the table of " + std::to_string(footer_.ranks) +
                        " ranks right before the footer, found it at byte " + std::to_string(footer_.table));
    }
}

void IdgReader::check_table() {
    const std::uint64_t end = file_.size() - idg::footer_size;
    std::uint32_t crc = 0;
    for (std::uint64_t at = footer_.table; at < end;) {
        const auto part = table_.view(at, std::min<std::uint64_t>(FileWindow::ahead_in_table, end - at));
        crc = crc32c(part, crc);
        at += part.size();
    }
    if (crc != footer_.table_crc) {
        fail(footer_.table, "the table's checksum " + versus(crc, footer_.table_crc));
    }
}

idg::Entry IdgReader::entry(std::uint32_t rank) {
    const std::uint64_t at = footer_.table + sizeof(idg::Entry) * std::uint64_t{rank};
    return load<idg::Entry>(table_.view(at, sizeof(idg::Entry)).data());
}

std::span<const std::uint64_t> IdgReader::next_block() {
    if (read_ == footer_.ranks) {
        check_totals();
        return {};
    }
    const std::uint64_t in_table = footer_.table + sizeof(idg::Entry) * std::uint64_t{read_};
    const std::string rank = "rank " + std::to_string(read_);
    const idg::Entry own = entry(read_);
    const std::uint64_t end = read_ + 1 == footer_.ranks ? footer_.table : entry(read_ + 1).begin;
    if (own.begin != begin_ || own.unused != 0) {
        fail(in_table, rank + " to begin at byte " + versus(begin_, own.begin));
    }
    if (end < begin_ + 8 * RankBlock::header_words || end > footer_.table || (end - begin_) % 8 != 0) {
        fail(in_table, rank + " to end from byte " + std::to_string(begin_ + 16) + " to " + versus(footer_.table, end));
    }
    const auto bytes = body_.view(begin_, end - begin_);
    if (const std::uint32_t crc = crc32c(bytes); crc != own.crc) {
        fail(begin_, rank + " with the checksum " + versus(crc, own.crc));
    }
    words_.resize(bytes.size() / 8);
    std::memcpy(words_.data(), bytes.data(), bytes.size());
    try {
        check_block(words_, footer_.ranks);
    } catch (const InputError& error) {
        throw InputError(file_.name() + ": byte " + std::to_string(begin_) + ", " + rank + ": " + error.what());
    }
    const RankBlock block(words_.data());
    const RankBlock::Limits limits = block.limits();
    ops_ += block.size();
    highest_cpu_ = std::max(highest_cpu_, limits.cpu);
    highest_nic_ = std::max(highest_nic_, limits.nic);
    begin_ = end;
    ++read_;
    return words_;
}

bool IdgReader::next(RankSchedule& rank) {
    const auto words = next_block();
    if (words.empty()) {
        return false;
    }
    RankBlock(words.data()).decode(rank);
    return true;
}

void IdgReader::check_totals() const {
    const std::uint64_t footer = file_.size() - idg::footer_size;
    if (footer_.ops != ops_) {
        fail(footer + 8, "the number of ops " + versus(ops_, footer_.ops));
    }
    if (footer_.highest_cpu != highest_cpu_ || footer_.highest_nic != highest_nic_ || footer_.unused != 0) {
        fail(footer + 20, "the highest CPU and NIC " + std::to_string(highest_cpu_) + " and " +
                              std::to_string(highest_nic_) + ", found " + std::to_string(footer_.highest_cpu) +
                              " and " + std::to_string(footer_.highest_nic));
    }
}

void IdgReader::fail(std::uint64_t byte, const std::string& what) const {
    throw InputError(file_.name() + ": byte " + std::to_string(byte) + ": expected " + what);
}

}  // namespace idlewave::goal
