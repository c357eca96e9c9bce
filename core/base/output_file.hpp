#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace idlewave {

/// A file that appears whole or not at all: it is written beside its place, and put there by `commit`. What is no
/// regular file (a pipe, a terminal) is written as it is. All errors are InputErrors that name it.
class OutputFile {
  public:
    explicit OutputFile(std::string path);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Without a commit nothing remains.
    ~OutputFile();

    /// Adds bytes at the end; errors may show later, at the latest in `commit`.
    void append(std::span<const std::byte> bytes);
    void append(std::string_view text) { append(std::as_bytes(std::span(text))); }

    /// Leaves `count` bytes out, which are zero, or written later.
    void skip(std::uint64_t count);

    /// Writes over earlier bytes.
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

    /// How many bytes it has so far.
    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Waits until all is on the disk, so that it is there after a power failure.
    void sync();

    /// Puts the finished file into its place.
    void commit();

  private:
    void flush();
    [[noreturn]] void fail(int error) const;

    std::string path_;       ///< where it will be
    std::string temporary_;  ///< where it is written; empty: at its place
    int file_ = -1;
    std::uint64_t size_ = 0;
    std::vector<std::byte> buffer_;
};

}  // namespace idlewave
