#include "pdes/checkpoint.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/archive.hpp"
#include "base/crc32c.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/output_file.hpp"
#include "base/quote.hpp"
#include "base/version.hpp"
#include "pdes/exchange.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {
namespace {

/// The first bytes of a file. The version changes with any change of what follows.
constexpr std::array<char, 8> magic = {'i', 'd', 'l', 'e', 'k', 'e', 'p', 't'};
constexpr std::uint32_t version_of_format = 8;

/// The header of each section of a file.
struct SectionHeader {
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;
    std::uint32_t unused = 0;
};

void append_section(OutputFile& out, std::span<const std::byte> section) {
    const SectionHeader head{section.size(), crc32c(section), 0};
    out.append(std::as_bytes(std::span(&head, 1)));
    out.append(section);
}

/// Reads the section at `offset`, and moves `offset` to the next one.
std::vector<std::byte> read_section(const InputFile& file, std::uint64_t& offset) {
    const auto refuse = [&] {
        return InputError(file.name() + ": the checkpoint is damaged at byte " + std::to_string(offset) +
                          "; a run can only go on from one that is whole");
    };
    SectionHeader head;
    if (file.size() - offset < sizeof head) {
        throw refuse();
    }
    file.read_at(offset, std::as_writable_bytes(std::span(&head, 1)));
    if (head.bytes > file.size() - offset - sizeof head) {
        throw refuse();
    }
    std::vector<std::byte> section(head.bytes);
    file.read_at(offset + sizeof head, section);
    if (crc32c(section) != head.crc) {
        throw refuse();
    }
    offset += sizeof head + head.bytes;
    return section;
}

std::vector<std::byte> header_of(const Checkpoint& checkpoint, std::uint64_t sections, const std::string& run) {
    std::vector<std::byte> bytes;
    Serialiser serialiser(bytes);
    serialiser(sections);
    serialiser(checkpoint.from);
    serialiser(checkpoint.seconds);
    serialiser(checkpoint.statistics);
    const auto text = std::as_bytes(std::span(run));
    bytes.insert(bytes.end(), text.begin(), text.end());
    return bytes;
}

/// Reads the header into `checkpoint` and `description`; returns the number of sections.
std::uint64_t read_header(const std::vector<std::byte>& header, Checkpoint& checkpoint, std::string& run) {
    Deserialiser deserialiser(header);
    const auto sections = deserialiser.next<std::uint64_t>();
    deserialiser(checkpoint.from);
    deserialiser(checkpoint.seconds);
    deserialiser(checkpoint.statistics);
    while (!deserialiser.done()) {
        run.push_back(deserialiser.next<char>());
    }
    return sections;
}

std::uint64_t sections_of(const Snapshot& snapshot) {
    std::uint64_t sections = 0;
    for (std::uint32_t partition = 0; partition < snapshot.partitions(); ++partition) {
        sections += snapshot.of(partition).size();
    }
    return sections;
}

constexpr std::string_view begin_of_name = "checkpoint-";

}  // namespace

CheckpointFolder::CheckpointFolder(std::string directory, std::string run)
    : directory_(std::move(directory)), run_(std::move(run) + ", by Idlewave " + version()) {}

std::string CheckpointFolder::name_of(std::uint64_t number, std::uint32_t process) const {
    return directory_ + "/" + std::string(begin_of_name) + std::to_string(number) + "." + std::to_string(process);
}

std::string CheckpointFolder::name_of_latest() const {
    return directory_ + "/latest";
}

CheckpointFolder::Latest CheckpointFolder::latest() const {
    Latest latest;
    std::ifstream file(name_of_latest());
    constexpr std::uint32_t most = 1 << 24;
    if (file && (!(file >> latest.number >> latest.files) || latest.files == 0 || latest.files > most)) {
        throw InputError(file_name(name_of_latest()) + ": expected the number of a checkpoint and of its files");
    }
    return latest;
}

void CheckpointFolder::prepare() const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error || ::access(directory_.c_str(), W_OK | X_OK) != 0) {
        throw InputError(file_name(directory_) +
                         ": no checkpoint can be written there: " + (error ? error.message() : std::strerror(errno)));
    }
    if (latest().files > 0) {
        throw InputError(file_name(directory_) +
                         ": there is a checkpoint already; a restart goes on from it, and another run "
                         "needs another directory");
    }
}

void CheckpointFolder::write(const Checkpoint& header, const Snapshot& snapshot, const idlewave_transport* transport) {
    const auto process = static_cast<std::uint32_t>(transport == nullptr ? 0 : transport->process);
    const auto processes = static_cast<std::uint32_t>(transport == nullptr ? 1 : transport->processes);
    const Latest next{latest().number + 1, processes};
    OutputFile out(name_of(next.number, process));
    out.append(std::string_view(magic.data(), magic.size()));
    out.append(std::as_bytes(std::span(&version_of_format, 1)));
    append_section(out, header_of(header, sections_of(snapshot), run_));
    for (std::uint32_t partition = 0; partition < snapshot.partitions(); ++partition) {
        for (const Snapshot::Section& section : snapshot.of(partition)) {
            append_section(out, section);
        }
    }
    out.sync();
    out.commit();
    barrier(transport);
    if (process == 0) {
        OutputFile latest(name_of_latest());
        latest.append(std::to_string(next.number) + " " + std::to_string(next.files) + "\n");
        latest.sync();
        latest.commit();
        remove_others(next.number);
    }
    barrier(transport);  // no process looks for the latest checkpoint before it is written
}

/// Removes the files of other checkpoints, and those of one whose run died.
void CheckpointFolder::remove_others(std::uint64_t number) const {
    const std::string own = std::string(begin_of_name) + std::to_string(number) + ".";
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(begin_of_name) && !name.starts_with(own)) {
            std::filesystem::remove(entry.path(), error);
        }
    }
}

Checkpoint CheckpointFolder::read() const {
    const Latest found = latest();
    if (found.files == 0) {
        throw InputError(file_name(directory_) + ": there is no checkpoint to go on from; expected a file 'latest'");
    }
    Checkpoint checkpoint;
    for (std::uint32_t process = 0; process < found.files; ++process) {
        read_file(found, process, checkpoint);
    }
    return checkpoint;
}

void CheckpointFolder::read_file(const Latest& latest, std::uint32_t process, Checkpoint& checkpoint) const {
    const InputFile file(name_of(latest.number, process), "a checkpoint");
    std::array<char, magic.size()> begin{};
    std::uint32_t format = 0;
    if (file.size() < sizeof begin + sizeof format) {
        throw InputError(file.name() + ": expected a checkpoint, found " + std::to_string(file.size()) + " bytes");
    }
    file.read_at(0, std::as_writable_bytes(std::span(begin)));
    file.read_at(sizeof begin, std::as_writable_bytes(std::span(&format, 1)));
    if (begin != magic || format != version_of_format) {
        throw InputError(file.name() + ": expected a checkpoint of version " + std::to_string(version_of_format));
    }
    std::uint64_t offset = sizeof begin + sizeof format;
    std::string run;
    std::uint64_t sections = read_header(read_section(file, offset), checkpoint, run);
    if (run != run_) {
        throw InputError(file.name() + ": it is of another run:\n  " + run + "\nand this one is:\n  " + run_);
    }
    for (; sections > 0; --sections) {
        checkpoint.sections.push_back(read_section(file, offset));
    }
    if (offset != file.size()) {
        throw InputError(file.name() + ": the checkpoint is damaged: it goes on behind its end");
    }
}

}  // namespace idlewave::pdes
