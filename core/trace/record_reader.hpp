#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/input_file.hpp"
#include "trace/record.hpp"
#include "trace/stored_records.hpp"

namespace idlewave::trace {

/// Where the bytes of a rank's file are: in the file at `path`, or, if that is empty, in memory.
struct RankSource {
    const std::string& path;
    std::span<const std::uint64_t> in_memory;
    std::uint64_t bytes;  ///< in memory
    std::string name;     ///< in messages
};

/// The bytes of a rank's file: all in memory, or a window of the file at a time.
class RankBytes {
  public:
    explicit RankBytes(RankSource source);

    [[nodiscard]] std::uint64_t size() const { return bytes_; }

    /// `count` bytes from `first` on, which the file must have; valid until the next call. In memory they lie on a
    /// multiple of a word, if in the file they do and were always asked for so.
    [[nodiscard]] std::span<const std::byte> at(std::uint64_t first, std::uint64_t count) {
        if (first < at_hand_from_ || first + count > at_hand_from_ + at_hand_.size()) [[unlikely]] {
            move_window(first, count);
        }
        return at_hand_.subspan(first - at_hand_from_, count);
    }

    [[noreturn]] void fail(std::uint64_t byte, const std::string& what) const;

  private:
    void move_window(std::uint64_t first, std::uint64_t count);

    std::string name_;
    std::optional<InputFile> file_;
    std::optional<FileWindow> window_;
    std::span<const std::byte> at_hand_;  ///< bytes that are in memory
    std::uint64_t at_hand_from_ = 0;      ///< where in the file the first of them is
    std::uint64_t bytes_;
};

/// Reads the file of a rank from front to back. All errors are InputErrors with the file and the byte.
class RecordReader {
  public:
    explicit RecordReader(RankSource source) : bytes_(std::move(source)) {}

    /// Reads the header, which comes first.
    TraceHeader header();
    /// The bytes of the header, as far as the file has them.
    [[nodiscard]] std::vector<std::byte> header_bytes();
    /// Reads the next record; its words are valid until the next call. False at the end. A record that says which
    /// thread made the next ones is not returned: they have the thread.
    bool next(TraceRecord& record);

  private:
    bool next_of_any(TraceRecord& record);
    void enter_thread(const TraceRecord& record, std::uint64_t byte);
    bool next_plain(TraceRecord& record);
    bool next_packed(TraceRecord& record);
    const Content& packed_content(unsigned kind, std::uint64_t fixed);
    void unpack_new(std::uint16_t slot, std::uint64_t fixed);
    void check_words(Call call, std::uint64_t count) const;
    void check_times(const TraceRecord& record, std::uint64_t byte) const;
    [[noreturn]] void fail_in_record() const;

    RankBytes bytes_;
    StoredRecords stored_;
    Content new_;  ///< the record that was unpacked last
    bool packed_ = false;
    std::uint64_t next_ = 0;     ///< the byte at which the next record begins
    std::uint64_t after_ = 0;    ///< while a record is read: the byte behind it
    std::uint32_t thread_ = 0;   ///< of the next record
    std::uint32_t threads_ = 1;  ///< how many there were so far
    std::uint64_t ranks_ = 0;
    std::uint64_t records_ = 0;  ///< those read and those lost, as far as they matter for `most_words_of`
    std::int64_t earliest_ = 0;  ///< time at which it may begin, ns: the end of the one before
};

}  // namespace idlewave::trace
