#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace idlewave {

/// A file that appears whole or not at all: it is written under a temporary name beside `path`, and `commit` renames
/// it. A pipe or a terminal is written directly. All errors are InputErrors that name the file.
class OutputFile {
  public:
    explicit OutputFile(std::string path);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Without a commit the temporary file is deleted.
    ~OutputFile();

    /// Appends bytes. An error may be thrown by a later call, at the latest by `commit`.
    void append(std::span<const std::byte> bytes);
    void append(std::string_view text) { append(std::as_bytes(std::span(text))); }

    /// Leaves a gap of `count` bytes; they are zero until `write_at` writes them.
    void skip(std::uint64_t count);

    /// Overwrites bytes at `offset`.
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

    /// The number of bytes so far.
    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Waits until all bytes are on the disk, so that they survive a power failure.
    void sync();

    /// Renames the finished file to its final name.
    void commit();

  private:
    void flush();
    [[noreturn]] void fail(int error) const;

    std::string path_;       ///< final name
    std::string temporary_;  ///< name while it is written; empty: the final one
    int file_ = -1;
    std::uint64_t size_ = 0;
    std::vector<std::byte> buffer_;
};

}  // namespace idlewave
