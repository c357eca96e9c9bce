#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace idlewave {

/// A file to read, in pieces. All errors are InputErrors that name it.
class InputFile {
  public:
    /// `what` it is to be, for errors.
    explicit InputFile(const std::string& path, const char* what = "a schedule");
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    /// As messages show it.
    [[nodiscard]] const std::string& name() const { return name_; }

    /// Whether it has a size and can be read anywhere; a pipe has not.
    [[nodiscard]] bool regular() const { return regular_; }

    /// Bytes, as they were when it was opened; 0 if it is not regular.
    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Its first bytes, fewer if there are no more; they will be read again.
    std::span<const std::byte> peek(std::size_t count);

    /// Reads the next bytes, at least one unless the file has ended. Returns how many.
    std::size_t read(std::span<std::byte> into);

    /// Reads bytes of a regular file that must be there.
    void read_at(std::uint64_t offset, std::span<std::byte> into) const;

  private:
    [[noreturn]] void fail(const std::string& why) const;

    std::string name_;
    const char* what_;
    int file_ = -1;
    bool regular_ = false;
    std::uint64_t size_ = 0;
    std::vector<std::byte> peeked_;  ///< read, but not yet given
};

/// A window that moves over a regular file: what is read once from front to back is in memory a piece at a time.
class FileWindow {
  public:
    /// The file must live as long. As long as it is read from front to back, a window holds at least `ahead` bytes.
    FileWindow(const InputFile& file, std::size_t ahead) : file_(file), ahead_(ahead) {}

    /// The bytes [offset, offset + count), which must lie in the file; valid until the next call.
    std::span<const std::byte> view(std::uint64_t offset, std::uint64_t count);

  private:
    const InputFile& file_;
    std::size_t ahead_;
    std::uint64_t begin_ = 0;
    std::vector<std::byte> bytes_;
};

}  // namespace idlewave
