// Small files that the kernel makes, and the files that a probe writes.
#pragma once

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/failure.hpp"

namespace idlewave {

// The first line; nothing when it cannot be read.
inline std::optional<std::string> read_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    return line;
}

inline std::optional<std::int64_t> read_integer(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::int64_t value = 0;
    if (!(file >> value)) return std::nullopt;
    return value;
}

inline void make_folder(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) throw failed("the folder " + path.string() + " cannot be made: " + error.message());
}

// A file that is being written; whatever goes wrong is told at the end.
class OutputFile {
  public:
    explicit OutputFile(std::filesystem::path path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "w")) {
        if (file_ == nullptr) throw failed(path_.string() + " cannot be written: " + system_word(errno));
    }
    ~OutputFile() {
        if (file_ != nullptr) std::fclose(file_);
    }
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), file_); }

    // Rows of a table of columns: as they are in memory, which is little-endian on all processors that we know.
    void write(const std::vector<std::int64_t>& numbers) {
        static_assert(std::endian::native == std::endian::little);
        std::fwrite(numbers.data(), sizeof(std::int64_t), numbers.size(), file_);
    }

    // A run that is killed keeps what it has by then.
    void flush() {
        if (std::fflush(file_) != 0) throw failed(path_.string() + " cannot be written: " + system_word(errno));
    }

    void close() {
        const bool torn = std::ferror(file_) != 0;
        const bool closed = std::fclose(file_) == 0;
        file_ = nullptr;
        if (torn || !closed) throw failed(path_.string() + " cannot be written: " + system_word(errno));
    }

  private:
    std::filesystem::path path_;
    std::FILE* file_;
};

// Whoever reads the file finds the old one or the new one, and that whole.
inline void replace_file(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::path unfinished = path;
    unfinished += ".part";
    OutputFile file(unfinished);
    file.write(text);
    file.close();
    std::error_code error;
    std::filesystem::rename(unfinished, path, error);
    if (error) throw failed(path.string() + " cannot be written: " + error.message());
}

}  // namespace idlewave
