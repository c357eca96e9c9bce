#include "trace/rank_trace.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "base/quote.hpp"

namespace idlewave::trace {
namespace {

static_assert(std::endian::native == std::endian::little, "trace files are little-endian");

constexpr std::string_view magic = "IDLEWTR1";
constexpr std::uint32_t format_version = 1;
constexpr std::size_t header_size = 256;
constexpr std::size_t fixed_words = 3;

template <class T>
T at(std::span<const std::uint64_t> words, std::size_t byte) {
    T value;
    std::memcpy(&value, reinterpret_cast<const char*>(words.data()) + byte, sizeof value);
    return value;
}

/// Adds a time of a record, in ns, which may be anything.
void add_wait(std::int64_t& all, std::int64_t wait) {
    all = std::min(all + std::clamp<std::int64_t>(wait, 0, latest), latest);
}

std::string text_at(std::span<const std::uint64_t> words, std::size_t byte, std::size_t size) {
    const char* begin = reinterpret_cast<const char*>(words.data()) + byte;
    return {begin, std::find(begin, begin + size, '\0')};
}

}  // namespace

std::int64_t TraceHeader::global(std::int64_t t) const {
    const std::int64_t span = offset_finalize_at - offset_init_at;
    if (offset_finalize_at == 0 || span <= 0) {
        return t + offset_init;
    }
    const double drift = static_cast<double>(offset_finalize - offset_init) / static_cast<double>(span);
    constexpr auto most = static_cast<double>(latest);
    const double drifted = std::clamp(drift * static_cast<double>(t - offset_init_at), -most, most);
    return t + offset_init + static_cast<std::int64_t>(std::llround(drifted));
}

RankTrace::RankTrace(std::string path, std::vector<std::uint64_t> words, std::uint64_t bytes, const std::string& name)
    : path_(std::move(path)), words_(std::move(words)), bytes_(bytes), name_(file_name(name)) {
    RecordReader reader(*this);
    header_ = reader.header();
    header_words_ = reader.header_words();
    TraceRecord record;
    while (reader.next(record)) {
        ++size_;
        defines_communicators_ = defines_communicators_ || record.call == Call::comm_def;
        one_sided_calls_ += record.call == Call::one_sided ? 1 : 0;
        file_calls_ += call_group(record.call) == CallGroup::file ? 1 : 0;
        core_waits_known_ = core_waits_known_ || (record.call == Call::init && (record.info & 1) != 0);
        if (record.call == Call::core_wait) {
            ++waits_;
            add_wait(core_wait_in_computations_, record.number(0));
            add_wait(core_wait_in_calls_, record.number(1));
        }
    }
}

RankTrace RankTrace::read(const std::string& file) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {  // opening a pipe would block
        throw InputError(file_name(file) + ": cannot be read as a trace: it is no file");
    }
    return {std::filesystem::absolute(file).string(), {}, 0, file};  // the working directory may change
}

RankTrace RankTrace::from_bytes(std::span<const std::byte> bytes, const std::string& name) {
    std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
    if (!bytes.empty()) {
        std::memcpy(words.data(), bytes.data(), bytes.size());
    }
    return {{}, std::move(words), bytes.size(), name};
}

RankTrace::RecordReader::RecordReader(const RankTrace& trace)
    : trace_(trace), at_hand_(trace.words_), bytes_(trace.bytes_), word_(header_size / 8) {
    if (!trace.path_.empty()) {
        file_.emplace(trace.path_, "a trace");
        window_.emplace(*file_, FileWindow::ahead_in_body);
        bytes_ = file_->size();
    }
}

void RankTrace::RecordReader::fail(std::uint64_t byte, const std::string& what) const {
    throw InputError(trace_.name_ + ": byte " + std::to_string(byte) + ": " + what);
}

/// Words that the trace has. The memory of a window is aligned, and its offsets are multiples of a word.
std::span<const std::uint64_t> RankTrace::RecordReader::words(std::uint64_t first, std::uint64_t count) {
    if (first < at_hand_from_ || first + count > at_hand_from_ + at_hand_.size()) [[unlikely]] {
        constexpr std::uint64_t ahead = FileWindow::ahead_in_body / sizeof(std::uint64_t);
        const std::uint64_t wanted = std::min(std::max(count, ahead), bytes_ / sizeof(std::uint64_t) - first);
        const auto bytes = window_->view(first * sizeof(std::uint64_t), wanted * sizeof(std::uint64_t));
        at_hand_ = {reinterpret_cast<const std::uint64_t*>(bytes.data()), wanted};
        at_hand_from_ = first;
    }
    return at_hand_.subspan(first - at_hand_from_, count);
}

TraceHeader RankTrace::RecordReader::header() {
    const std::span<const std::uint64_t> found =
        bytes_ < header_size ? std::span<const std::uint64_t>() : words(0, header_size / 8);
    if (found.empty() || text_at(found, 0, magic.size()) != magic) {
        fail(0, "expected the header of an Idlewave trace ('" + std::string(magic) + "')");
    }
    if (const auto version = at<std::uint32_t>(found, 8); version != format_version) {
        fail(8, "expected format version 1, found " + std::to_string(version));
    }
    if (const auto size = at<std::uint32_t>(found, 12); size != header_size) {
        fail(12, "expected a header of 256 bytes, found " + std::to_string(size));
    }
    TraceHeader h;
    h.rank = at<std::uint32_t>(found, 16);
    h.ranks = at<std::uint32_t>(found, 20);
    if (h.rank >= h.ranks) {
        fail(16, "expected a rank below " + std::to_string(h.ranks) + ", found " + std::to_string(h.rank));
    }
    h.init_end = at<std::int64_t>(found, 32);
    h.finalize_begin = at<std::int64_t>(found, 40);
    h.state = at<std::uint32_t>(found, 48);
    h.thread_level = at<std::uint32_t>(found, 52);
    h.offset_init = at<std::int64_t>(found, 56);
    h.offset_init_error = at<std::int64_t>(found, 64);
    h.offset_init_at = at<std::int64_t>(found, 72);
    h.offset_finalize = at<std::int64_t>(found, 80);
    h.offset_finalize_error = at<std::int64_t>(found, 88);
    h.offset_finalize_at = at<std::int64_t>(found, 96);
    h.lost = at<std::uint64_t>(found, 104);
    h.record_cost_ps = at<std::uint64_t>(found, 112);
    h.voluntary_switches = at<std::uint64_t>(found, 120);
    h.involuntary_switches = at<std::uint64_t>(found, 128);
    h.cpu_ns = at<std::int64_t>(found, 136);
    h.host = text_at(found, 144, 64);
    h.library = text_at(found, 208, 48);
    for (const std::size_t byte : {32, 40, 56, 72, 80, 96}) {
        if (const auto time = at<std::int64_t>(found, byte); time <= -latest || time >= latest) {
            fail(byte, "expected a time below 36 years in ns");
        }
    }
    return h;
}

std::vector<std::uint64_t> RankTrace::RecordReader::header_words() {
    const auto found = words(0, std::min<std::uint64_t>(header_size, bytes_) / sizeof(std::uint64_t));
    return {found.begin(), found.end()};
}

void RankTrace::RecordReader::check_header() {
    if (header_words() != trace_.header_words_) {
        trace_.refuse_change();
    }
}

void RankTrace::refuse_change() const {
    throw InputError(name_ + ": has changed since it was checked: expected the trace of one run");
}

/// A killed rank leaves zeros after its last record. A truncated file ends inside a record.
bool RankTrace::RecordReader::next(TraceRecord& record) {
    const std::uint64_t end = bytes_ / 8;
    if (word_ >= end) {
        if (bytes_ % 8 != 0) {
            fail(end * 8, "the file ends in the middle of a record");
        }
        return false;
    }
    const std::uint64_t first = words(word_, 1).front();
    const std::uint64_t count = first & 0xffffffff;
    record.call = static_cast<Call>((first >> 32) & 0xffff);
    record.info = static_cast<std::uint16_t>(first >> 48);
    if (record.call == Call::end_of_file) {
        return false;
    }
    std::size_t least = 0;
    if (!min_words(record.call, least)) {
        fail(word_ * 8, "no call has the number " + std::to_string(static_cast<unsigned>(record.call)));
    }
    if (end - word_ < fixed_words || end - word_ - fixed_words < count) {
        fail(word_ * 8, "the file ends in the middle of a record of " + call_name(record.call));
    }
    if (count < least) {
        fail(word_ * 8, "expected at least " + std::to_string(least) + " words for " + call_name(record.call) +
                            ", found " + std::to_string(count));
    }
    const std::span<const std::uint64_t> all = words(word_, fixed_words + count);
    record.begin = static_cast<std::int64_t>(all[1]);
    record.end = static_cast<std::int64_t>(all[2]);
    if (record.begin < 0 || record.end < std::max(record.begin, earliest_) || record.end > latest) {
        fail(word_ * 8 + 8, call_name(record.call) + " from " + std::to_string(record.begin) + " to " +
                                std::to_string(record.end) + " ns: expected times that do not decrease");
    }
    record.words = all.subspan(fixed_words);
    earliest_ = record.end;
    word_ += fixed_words + count;
    return true;
}

Trace Trace::read(const std::string& directory) {
    std::map<std::string, std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        if (entry.path().extension() == ".iwtrace") {
            files.emplace(entry.path().filename().string(), entry.path().string());
        }
    }
    if (error) {
        throw InputError(file_name(directory) + ": cannot be read as a trace: " + error.message());
    }
    if (files.empty()) {
        throw InputError(file_name(directory) + ": expected a trace, found no file rank-….iwtrace");
    }
    Trace trace;
    for (const auto& [name, path] : files) {
        trace.ranks.push_back(RankTrace::read(path));
    }
    std::sort(trace.ranks.begin(), trace.ranks.end(),
              [](const RankTrace& a, const RankTrace& b) { return a.header().rank < b.header().rank; });
    const std::uint32_t expected = trace.ranks.front().header().ranks;
    for (std::uint32_t r = 0; r < trace.ranks.size(); ++r) {
        const TraceHeader& header = trace.ranks[r].header();
        if (header.ranks != expected) {
            throw InputError(trace.ranks[r].name() + ": is one of " + std::to_string(header.ranks) +
                             " ranks, others of " + std::to_string(expected) + ": files of two runs are mixed");
        }
        if (header.rank != r) {
            throw InputError(file_name(directory) + ": expected one file for each of " + std::to_string(expected) +
                             " ranks, and there is " +
                             (header.rank > r ? "none for rank " + std::to_string(r)
                                              : "more than one for rank " + std::to_string(header.rank)));
        }
    }
    if (trace.ranks.size() != expected) {
        throw InputError(file_name(directory) + ": expected one file for each of " + std::to_string(expected) +
                         " ranks, and there is none for rank " + std::to_string(trace.ranks.size()));
    }
    return trace;
}

std::int64_t Trace::begin() const {
    std::int64_t first = ranks.front().header().global(ranks.front().header().init_end);
    for (const RankTrace& rank : ranks) {
        first = std::min(first, rank.header().global(rank.header().init_end));
    }
    return first;
}

std::int64_t Trace::duration() const {
    std::int64_t last = begin();
    for (const RankTrace& rank : ranks) {
        last = std::max(last, rank.header().global(rank.header().finalize_begin));
    }
    return last - begin();
}

}  // namespace idlewave::trace
