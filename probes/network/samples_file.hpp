// The samples, a line each, as they come.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "network/client.hpp"
#include "network/failure.hpp"

namespace idlewave::network {

constexpr const char* sample_columns = "series,size,n,delay_ns,repetition,value_ns,start_ns,disturbed";

inline void make_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw Failure(folder + " cannot be written: " + error.message());
}

class SamplesFile {
  public:
    explicit SamplesFile(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
        if (file_ == nullptr) throw Failure(path + " cannot be written: " + std::strerror(errno));
        std::fprintf(file_, "%s\n", sample_columns);
    }
    SamplesFile(const SamplesFile&) = delete;
    SamplesFile& operator=(const SamplesFile&) = delete;
    ~SamplesFile() { std::fclose(file_); }

    void write(const Job& job, int repetition, const Sample& s, double origin_ns) {
        const std::string_view series = name_of(job.series);
        std::fprintf(file_, "%.*s,%d,%d,%.3f,%d,%.3f,%.0f,%lld\n", static_cast<int>(series.size()), series.data(),
                     job.size, job.messages, s.delay_ns, repetition, s.value_ns, s.start_ns - origin_ns,
                     static_cast<long long>(s.disturbed));
    }

    // So that a run that is killed keeps what it has.
    void flush() {
        if (std::fflush(file_) != 0) throw Failure(std::string("the samples cannot be written: ") + strerror(errno));
    }

  private:
    std::FILE* file_;
};

}  // namespace idlewave::network
