#include "trace/record_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/quote.hpp"

namespace idlewave::trace {
namespace {

static_assert(std::endian::native == std::endian::little, "trace files are little-endian");

constexpr std::string_view magic = "IDLEWTR1";
constexpr std::uint32_t plain_version = 1;
constexpr std::uint32_t packed_version = 2;
constexpr std::size_t header_size = 256;
constexpr std::size_t word_size = sizeof(std::uint64_t);
constexpr std::size_t fixed_words = 3;

// The kinds of packed records (docs/trace-format.md).
constexpr unsigned follows = 1;
constexpr unsigned repeats = 2;

/// The bytes of the number of a slot, and of all that a new record has before its words.
constexpr std::size_t slot_size = 2;
constexpr std::size_t new_size = 8;
/// The most bytes that a packed record has before its words.
constexpr std::size_t most_before_words = 1 + 2 * word_size + new_size;
constexpr std::uint64_t most_words = std::uint64_t{1} << 26;

/// The most words of a packed record, in which a word may take half a byte: of lists for the ranks a few for each, of
/// requests that completed three for each that a record before had started; and what is more than any call has beside.
/// So a damaged number does not become many times the file's size in memory.
std::uint64_t most_words_of(std::uint64_t ranks, std::uint64_t records) {
    constexpr std::uint64_t beside = std::uint64_t{1} << 16;
    constexpr std::uint64_t of_rank = 16;
    constexpr std::uint64_t of_record = 4;
    return std::min(most_words, beside + of_rank * ranks + of_record * std::min(records, most_words));
}

/// Clocks of hosts drift apart by less than a thousandth, and by some hundredths while one of them is corrected. A
/// difference of more than a tenth is a jump. The errors of both offsets are
/// allowed on top, and a millisecond, because another process may interrupt an exchange.
bool drift_is_plausible(const TraceHeader& h) {
    if (h.offset_finalize_at == 0) {
        return true;
    }
    constexpr std::int64_t slack = 1'000'000;
    const auto error = [](std::int64_t ns) { return std::clamp<std::int64_t>(ns, 0, latest); };
    const std::int64_t drift = std::abs(h.offset_finalize - h.offset_init);
    const std::int64_t between = std::abs(h.offset_finalize_at - h.offset_init_at);
    return drift <= between / 10 + error(h.offset_init_error) + error(h.offset_finalize_error) + slack;
}

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t byte) {
    T value;
    std::memcpy(&value, bytes.data() + byte, sizeof value);
    return value;
}

std::string text_at(std::span<const std::byte> bytes, std::size_t byte, std::size_t size) {
    const char* begin = reinterpret_cast<const char*>(bytes.data()) + byte;
    return {begin, std::find(begin, begin + size, '\0')};
}

/// The lowest `size` bytes of a word.
std::uint64_t low_bytes(std::uint64_t word, std::size_t size) {
    return size == word_size ? word : word & ((std::uint64_t{1} << (8 * size)) - 1);
}

}  // namespace

RankBytes::RankBytes(RankSource source)
    : name_(std::move(source.name)),
      at_hand_(std::as_bytes(source.in_memory).first(source.bytes)),
      bytes_(source.bytes) {
    if (!source.path.empty()) {
        file_.emplace(source.path, "a trace");
        window_.emplace(*file_, FileWindow::ahead_in_body);
        bytes_ = file_->size();
    }
}

/// More than is asked for, so that the window rarely moves.
void RankBytes::move_window(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t wanted =
        std::min<std::uint64_t>(std::max<std::uint64_t>(count, FileWindow::ahead_in_body), bytes_ - first);
    at_hand_ = window_->view(first, wanted);
    at_hand_from_ = first;
}

void RankBytes::fail(std::uint64_t byte, const std::string& what) const {
    throw InputError(name_ + ": byte " + std::to_string(byte) + ": " + what);
}

std::vector<std::byte> RecordReader::header_bytes() {
    const auto found = bytes_.at(0, std::min<std::uint64_t>(header_size, bytes_.size()));
    return {found.begin(), found.end()};
}

TraceHeader RecordReader::header() {
    const std::vector<std::byte> found = header_bytes();
    if (found.size() < header_size || text_at(found, 0, magic.size()) != magic) {
        bytes_.fail(0, "expected the header of an Idlewave trace ('" + std::string(magic) + "')");
    }
    const auto version = value_at<std::uint32_t>(found, 8);
    if (version != plain_version && version != packed_version) {
        bytes_.fail(8, "expected format version 1 or 2, found " + std::to_string(version));
    }
    packed_ = version == packed_version;
    if (const auto size = value_at<std::uint32_t>(found, 12); size != header_size) {
        bytes_.fail(12, "expected a header of 256 bytes, found " + std::to_string(size));
    }
    next_ = header_size;
    TraceHeader h;
    h.rank = value_at<std::uint32_t>(found, 16);
    h.ranks = value_at<std::uint32_t>(found, 20);
    if (h.rank >= h.ranks) {
        bytes_.fail(16, "expected a rank below " + std::to_string(h.ranks) + ", found " + std::to_string(h.rank));
    }
    h.init_end = value_at<std::int64_t>(found, 32);
    h.finalize_begin = value_at<std::int64_t>(found, 40);
    h.state = value_at<std::uint32_t>(found, 48);
    h.thread_level = value_at<std::uint32_t>(found, 52);
    h.offset_init = value_at<std::int64_t>(found, 56);
    h.offset_init_error = value_at<std::int64_t>(found, 64);
    h.offset_init_at = value_at<std::int64_t>(found, 72);
    h.offset_finalize = value_at<std::int64_t>(found, 80);
    h.offset_finalize_error = value_at<std::int64_t>(found, 88);
    h.offset_finalize_at = value_at<std::int64_t>(found, 96);
    h.lost = value_at<std::uint64_t>(found, 104);
    ranks_ = h.ranks;
    records_ = h.lost;
    h.record_cost_ps = value_at<std::uint64_t>(found, 112);
    h.voluntary_switches = value_at<std::uint64_t>(found, 120);
    h.involuntary_switches = value_at<std::uint64_t>(found, 128);
    h.cpu_ns = value_at<std::int64_t>(found, 136);
    h.host = text_at(found, 144, 64);
    h.library = text_at(found, 208, 48);
    for (const std::size_t byte : {32, 40, 56, 72, 80, 96}) {
        if (const auto time = value_at<std::int64_t>(found, byte); time <= -latest || time >= latest) {
            bytes_.fail(byte, "expected a time below 36 years in ns");
        }
    }
    if (!drift_is_plausible(h)) {
        bytes_.fail(80,
                    "expected an offset to rank 0's clock that changes by less than a tenth of the time, found a "
                    "change of " +
                        std::to_string(h.offset_finalize - h.offset_init) + " ns in " +
                        std::to_string(h.offset_finalize_at - h.offset_init_at) +
                        " ns: the clock jumped during the run (was the host suspended?)");
    }
    return h;
}

bool RecordReader::next(TraceRecord& record) {
    std::uint64_t byte = next_;
    while (next_of_any(record)) {
        if (record.call != Call::thread) [[likely]] {
            record.thread = thread_;
            return true;
        }
        enter_thread(record, byte);
        byte = next_;
    }
    return false;
}

/// Threads are numbered in the order of their first records.
void RecordReader::enter_thread(const TraceRecord& record, std::uint64_t byte) {
    if (record.words[0] > threads_) {
        bytes_.fail(byte, "expected a thread from 0 to " + std::to_string(threads_) + ", found " +
                              std::to_string(record.words[0]));
    }
    thread_ = static_cast<std::uint32_t>(record.words[0]);
    threads_ = std::max(threads_, thread_ + 1);
}

/// A killed rank leaves zeros after its last record. A truncated file ends inside a record.
bool RecordReader::next_of_any(TraceRecord& record) {
    records_ += records_ < most_words ? 1 : 0;
    return packed_ ? next_packed(record) : next_plain(record);
}

void RecordReader::check_words(Call call, std::uint64_t count) const {
    std::size_t least = 0;
    if (!min_words(call, least)) {
        bytes_.fail(next_, "no call has the number " + std::to_string(static_cast<unsigned>(call)));
    }
    if (count < least) {
        bytes_.fail(next_, "expected at least " + std::to_string(least) + " words for " + call_name(call) + ", found " +
                               std::to_string(count));
    }
}

void RecordReader::check_times(const TraceRecord& record, std::uint64_t byte) const {
    if (record.begin < 0 || record.end < std::max(record.begin, earliest_) || record.end > latest) {
        bytes_.fail(byte, call_name(record.call) + " from " + std::to_string(record.begin) + " to " +
                              std::to_string(record.end) + " ns: expected times that do not decrease");
    }
}

bool RecordReader::next_plain(TraceRecord& record) {
    const std::uint64_t words_left = bytes_.size() / word_size - next_ / word_size;
    if (words_left == 0) {
        if (next_ != bytes_.size()) {
            bytes_.fail(next_, "the file ends in the middle of a record");
        }
        return false;
    }
    const auto first = value_at<std::uint64_t>(bytes_.at(next_, word_size), 0);
    const std::uint64_t count = first & 0xffffffff;
    record.call = static_cast<Call>((first >> 32) & 0xffff);
    record.info = static_cast<std::uint16_t>(first >> 48);
    if (record.call == Call::end_of_file) {
        return false;
    }
    std::size_t least = 0;
    if (min_words(record.call, least) && (words_left < fixed_words || words_left - fixed_words < count)) {
        bytes_.fail(next_, "the file ends in the middle of a record of " + call_name(record.call));
    }
    check_words(record.call, count);
    const std::uint64_t size = (fixed_words + count) * word_size;
    const std::span<const std::byte> all = bytes_.at(next_, size);
    record.begin = value_at<std::int64_t>(all, word_size);
    record.end = value_at<std::int64_t>(all, 2 * word_size);
    check_times(record, next_ + word_size);
    record.words = {reinterpret_cast<const std::uint64_t*>(all.data()) + fixed_words, count};
    earliest_ = record.end;
    next_ += size;
    return true;
}

bool RecordReader::next_packed(TraceRecord& record) {
    const std::uint64_t left = bytes_.size() - next_;
    if (left == 0) {
        return false;
    }
    // Numbers are read as whole words: behind the end of the file come zeroes.
    std::array<std::byte, most_before_words + word_size> padded{};
    std::span<const std::byte> bytes = bytes_.at(next_, std::min<std::uint64_t>(left, padded.size()));
    if (bytes.size() < padded.size()) {
        std::ranges::copy(bytes, padded.begin());
        bytes = padded;
    }
    const auto form = std::to_integer<unsigned>(bytes[0]);
    if (form == 0) {
        return false;
    }
    const unsigned kind = form & 3;
    const std::size_t gap_size = (form >> 2 & 7) + 1;
    const std::size_t duration_size = (form >> 5) + 1;
    const std::size_t fixed = 1 + gap_size + duration_size;
    after_ = next_ + fixed;
    if (left < fixed) {
        fail_in_record();
    }
    const std::uint64_t gap = low_bytes(value_at<std::uint64_t>(bytes, 1), gap_size);
    const std::uint64_t duration = low_bytes(value_at<std::uint64_t>(bytes, 1 + gap_size), duration_size);
    const std::uint64_t begin = static_cast<std::uint64_t>(earliest_) + ((gap >> 1) ^ (std::uint64_t{0} - (gap & 1)));
    record.begin = static_cast<std::int64_t>(begin);
    record.end = static_cast<std::int64_t>(begin + duration);
    const Content& content = packed_content(kind, value_at<std::uint64_t>(bytes, fixed));
    record.call = content.call;
    record.info = content.info;
    record.words = content.words;
    check_times(record, next_ + 1);
    earliest_ = record.end;
    next_ = after_;
    return true;
}

/// `fixed` are the eight bytes behind the times.
const Content& RecordReader::packed_content(unsigned kind, std::uint64_t fixed) {
    if (kind == 0) {
        bytes_.fail(next_, "expected a record, found one of no kind");
    }
    if (kind == follows) {
        const Content* found = stored_.successor();
        if (found == nullptr) {
            bytes_.fail(next_, "expected a record that has followed the one before it, and none has");
        }
        return *found;
    }
    const auto slot = static_cast<std::uint16_t>(fixed);
    after_ += kind == repeats ? slot_size : new_size;
    if (after_ > bytes_.size()) {
        fail_in_record();
    }
    if (kind == repeats) {
        const Content* found = stored_.repeated(slot);
        if (found == nullptr) {
            bytes_.fail(next_, "expected a record in slot " + std::to_string(slot) + ", and there is none");
        }
        return *found;
    }
    unpack_new(slot, fixed >> 16);
    if (slot != 0 && !stored_.store(slot, new_)) {
        bytes_.fail(next_,
                    "expected stored records of " + std::to_string(StoredRecords::most_words) + " words at most");
    }
    return new_;
}

void RecordReader::unpack_new(std::uint16_t slot, std::uint64_t fixed) {
    new_.call = static_cast<Call>(fixed & 0xff);
    new_.info = static_cast<std::uint16_t>(fixed >> 8 & 0xff);
    const std::uint64_t count = fixed >> 16;
    check_words(new_.call, count);
    const std::uint64_t sizes_size = (count + 1) / 2;
    if (bytes_.size() - after_ < sizes_size) {
        fail_in_record();
    }
    if (const std::uint64_t most = most_words_of(ranks_, records_); count > most) {
        bytes_.fail(next_, "expected " + std::to_string(most) + " words at most, found " + std::to_string(count));
    }
    std::uint64_t words_size = 0;
    for (const std::byte two : bytes_.at(after_, sizes_size)) {
        const auto sizes = std::to_integer<unsigned>(two);
        if ((sizes & 0xf) > word_size || sizes >> 4 > word_size) {
            bytes_.fail(next_, "expected words of 8 bytes at most");
        }
        words_size += (sizes & 0xf) + (sizes >> 4);
    }
    if (bytes_.size() - after_ - sizes_size < words_size) {
        fail_in_record();
    }
    new_.words.resize(count);
    const std::span<const std::byte> all = bytes_.at(after_, sizes_size + words_size);
    stored_.unpack(all.first(sizes_size), all.subspan(sizes_size), slot != 0, new_);
    after_ += sizes_size + words_size;
}

void RecordReader::fail_in_record() const {
    bytes_.fail(next_, "the file ends in the middle of a record");
}

}  // namespace idlewave::trace
