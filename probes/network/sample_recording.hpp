// The recording of a probe that takes sample after sample: NAME.i64, a row a sample, and NAME.json, which describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/files.hpp"
#include "common/output.hpp"

namespace idlewave::probe {

class SampleRecording {
  public:
    // Makes the folder. A launcher may kill its ranks before the end, so everything that is known is written now:
    // `unfinished`, the description of an interrupted recording.
    SampleRecording(const std::string& folder, const std::string& name, const std::string& unfinished)
        : description_(description_in(folder, name)), samples_(folder + "/" + name + ".i64") {
        replace_file(description_, unfinished + "\n");
    }

    // Writes a row at a time since the beginning, and shows which share is done, if any is given.
    void write(const std::vector<std::int64_t>& row, std::int64_t at_ns, std::optional<double> share) {
        samples_.write(row);
        // A line wakes the launcher, which takes the CPU for a moment.
        if (at_ns - reported_at_ < report_every_ns) return;
        reported_at_ = at_ns;
        samples_.flush();
        if (share) print_progress(*share);
    }

    // What is written so far is not lost if the program dies.
    void flush() { samples_.flush(); }

    // Ends the recording with its description, which is also printed.
    void finish(const std::string& description) {
        samples_.close();
        replace_file(description_, description + "\n");
        print_line(description);
    }

  private:
    static constexpr std::int64_t report_every_ns = 200'000'000;

    // The path of the description, whose folder is there then.
    static std::string description_in(const std::string& folder, const std::string& name) {
        make_folder(folder);
        return folder + "/" + name + ".json";
    }

    std::string description_;
    RecordingFile samples_;
    std::int64_t reported_at_ = 0;
};

}  // namespace idlewave::probe
