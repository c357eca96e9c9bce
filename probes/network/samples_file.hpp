// The file of samples: a line each, in the order in which they are taken.
#pragma once

#include <array>
#include <cstdio>
#include <string>

#include "common/files.hpp"
#include "network/client.hpp"

namespace idlewave::probe::network {

constexpr const char* sample_columns =
    "series,size,n,delay_ns,repetition,value_ns,start_ns,disturbed,pilot_before_ns,pilot_after_ns";

// A sample as it is in the file, without its pilots.
struct RecordedSample {
    Exchange job;
    int repetition = 0;
    Sample sample;
};

class SamplesFile {
  public:
    explicit SamplesFile(const std::string& path) : file_(path) {
        file_.write(sample_columns + std::string("\n"));
        file_.flush();
    }

    void write(const RecordedSample& recorded, double origin_ns, double pilot_before_ns, double pilot_after_ns) {
        const auto& [job, repetition, s] = recorded;
        const std::string_view series = name_of(job.series);
        std::array<char, 256> line{};
        std::snprintf(line.data(), line.size(), "%.*s,%d,%d,%.3f,%d,%.3f,%.0f,%lld,%.0f,%.0f\n",
                      static_cast<int>(series.size()), series.data(), job.size, job.messages, s.delay_ns, repetition,
                      s.value_ns, s.start_ns - origin_ns, static_cast<long long>(s.disturbed), pilot_before_ns,
                      pilot_after_ns);
        file_.write(line.data());
    }

    void flush() { file_.flush(); }
    void close() { file_.close(); }

  private:
    RecordingFile file_;
};

}  // namespace idlewave::probe::network
