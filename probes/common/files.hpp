// Small files of the kernel (/proc, /sys), and the files that a probe writes.
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

namespace idlewave::probe {

// The first line of a file; nothing if the file cannot be read.
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

// Returns an empty text on success, else the system's message.
inline std::string write_text(const std::filesystem::path& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return system_word(errno);
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const int first_error = errno;
    if (std::fclose(file) == 0 && written) return "";
    return system_word(written ? errno : first_error);
}

inline void make_folder(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) throw failed("the folder " + path.string() + " cannot be made: " + error.message());
}

// A file that a probe writes. Errors are thrown by flush and close.
class RecordingFile {
  public:
    explicit RecordingFile(std::filesystem::path path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "w")) {
        if (file_ == nullptr) throw failed(path_.string() + " cannot be written: " + system_word(errno));
    }
    ~RecordingFile() {
        if (file_ != nullptr) std::fclose(file_);
    }
    RecordingFile(const RecordingFile&) = delete;
    RecordingFile& operator=(const RecordingFile&) = delete;

    void write(const std::string& text) { put(text.data(), 1, text.size()); }

    // Writes rows of a table, byte by byte as they are in memory (little-endian: see the assertion).
    void write(const std::vector<std::int64_t>& numbers) {
        static_assert(std::endian::native == std::endian::little);
        put(numbers.data(), sizeof(std::int64_t), numbers.size());
    }

    // What was flushed survives if the run is killed.
    void flush() {
        if (std::fflush(file_) != 0) remember(errno);
        throw_if_failed();
    }

    void close() {
        if (std::fclose(file_) != 0) remember(errno);
        file_ = nullptr;
        throw_if_failed();
    }

  private:
    void put(const void* from, std::size_t bytes, std::size_t count) {
        if (std::fwrite(from, bytes, count, file_) != count) remember(errno);
    }

    // Stores the first error only: later ones may follow from it.
    void remember(int error) {
        if (error_ == 0) error_ = error;
    }

    void throw_if_failed() const {
        if (error_ != 0) throw failed(path_.string() + " cannot be written: " + system_word(error_));
    }

    std::filesystem::path path_;
    std::FILE* file_;
    int error_ = 0;
};

// Replaces a file atomically: a reader finds either the old file or the complete new one.
inline void replace_file(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::path unfinished = path;
    unfinished += ".part";
    std::error_code error;
    std::optional<Failure> failure = failure_of([&] {
        RecordingFile file(unfinished);
        file.write(text);
        file.close();
        std::filesystem::rename(unfinished, path, error);
        if (error) throw failed(path.string() + " cannot be written: " + error.message());
    });
    if (!failure) return;
    std::filesystem::remove(unfinished, error);
    throw Failure(*failure);
}

}  // namespace idlewave::probe
