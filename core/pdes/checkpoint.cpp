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
constexpr std::uint32_t version_of_format = 1;

/// The header of each part of a file.
struct PartHead {
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;
    std::uint32_t unused = 0;
};

void append_part(OutputFile& out, std::span<const std::byte> part) {
    const PartHead head{part.size(), crc32c(part), 0};
    out.append(std::as_bytes(std::span(&head, 1)));
    out.append(part);
}

/// Reads the part at `offset`, and moves `offset` to the next one.
std::vector<std::byte> read_part(const InputFile& file, std::uint64_t& offset) {
    const auto refuse = [&] {
        return InputError(file.name() + ": the checkpoint is damaged at byte " + std::to_string(offset) +
                          "; a run can only go on from one that is whole");
    };
    PartHead head;
    if (file.size() - offset < sizeof head) {
        throw refuse();
    }
    file.read_at(offset, std::as_writable_bytes(std::span(&head, 1)));
    if (head.bytes > file.size() - offset - sizeof head) {
        throw refuse();
    }
    std::vector<std::byte> part(head.bytes);
    file.read_at(offset + sizeof head, part);
    if (crc32c(part) != head.crc) {
        throw refuse();
    }
    offset += sizeof head + head.bytes;
    return part;
}

std::vector<std::byte> header_of(const Checkpoint& checkpoint, std::uint64_t parts, const std::string& run) {
    std::vector<std::byte> bytes;
    Serialiser packer(bytes);
    packer(parts);
    packer(checkpoint.from);
    packer(checkpoint.seconds);
    packer(checkpoint.statistics);
    const auto text = std::as_bytes(std::span(run));
    bytes.insert(bytes.end(), text.begin(), text.end());
    return bytes;
}

/// Reads the header into `checkpoint` and `description`; returns the number of parts.
std::uint64_t read_header(const std::vector<std::byte>& header, Checkpoint& checkpoint, std::string& run) {
    Deserialiser unpacker(header);
    const auto parts = unpacker.next<std::uint64_t>();
    unpacker(checkpoint.from);
    unpacker(checkpoint.seconds);
    unpacker(checkpoint.statistics);
    while (!unpacker.done()) {
        run.push_back(unpacker.next<char>());
    }
    return parts;
}

std::uint64_t parts_of(const Snapshot& snapshot) {
    std::uint64_t parts = 0;
    for (std::uint32_t partition = 0; partition < snapshot.partitions(); ++partition) {
        parts += snapshot.of(partition).size();
    }
    return parts;
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
    append_part(out, header_of(header, parts_of(snapshot), run_));
    for (std::uint32_t partition = 0; partition < snapshot.partitions(); ++partition) {
        for (const Snapshot::Part& part : snapshot.of(partition)) {
            append_part(out, part);
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
    std::uint64_t parts = read_header(read_part(file, offset), checkpoint, run);
    if (run != run_) {
        throw InputError(file.name() + ": it is of another run:\n  " + run + "\nand this one is:\n  " + run_);
    }
    for (; parts > 0; --parts) {
        checkpoint.parts.push_back(read_part(file, offset));
    }
    if (offset != file.size()) {
        throw InputError(file.name() + ": the checkpoint is damaged: it goes on behind its end");
    }
}

}  // namespace idlewave::pdes
