#include "pdes/checkpoint.hpp"

#include <array>
#include <cstddef>
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

namespace idlewave::pdes {
namespace {

/// How a file begins; the version changes with anything that follows.
constexpr std::array<char, 8> magic = {'i', 'd', 'l', 'e', 'k', 'e', 'p', 't'};
constexpr std::uint32_t version = 1;

/// What goes before each part of a file.
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

/// The part that begins at `offset`, which then is where the next one begins.
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

std::vector<std::byte> header_of(const Checkpoint& checkpoint, const std::string& run) {
    std::vector<std::byte> bytes;
    Packer packer(bytes);
    packer(checkpoint.from);
    packer(checkpoint.seconds);
    packer(checkpoint.statistics);
    const auto text = std::as_bytes(std::span(run));
    bytes.insert(bytes.end(), text.begin(), text.end());
    return bytes;
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::string directory, std::string run)
    : directory_(std::move(directory)), run_(std::move(run)) {}

std::string CheckpointFolder::name_of(std::uint64_t number, std::uint32_t process) const {
    return directory_ + "/checkpoint-" + std::to_string(number) + "." + std::to_string(process);
}

std::string CheckpointFolder::name_of_latest() const {
    return directory_ + "/latest";
}

CheckpointFolder::Latest CheckpointFolder::latest() const {
    Latest latest;
    std::ifstream file(name_of_latest());
    if (file && !(file >> latest.number >> latest.files)) {
        throw InputError(name_of_latest() + ": expected the number of a checkpoint and of its files");
    }
    return latest;
}

void CheckpointFolder::write(const Checkpoint& header, const Image& image, const idlewave_wire* wire) {
    const auto meet = [&] {
        std::uint64_t nothing = 0;
        if (wire != nullptr && wire->sum(&nothing, 1) != 0) {
            throw TransportError(wire->error_text());
        }
    };
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error) {
        throw InputError(directory_ + ": no checkpoint can be written there: " + error.message());
    }
    const auto process = static_cast<std::uint32_t>(wire == nullptr ? 0 : wire->process);
    const auto processes = static_cast<std::uint32_t>(wire == nullptr ? 1 : wire->processes);
    const Latest before = latest();
    OutputFile out(name_of(before.number + 1, process));
    out.append(std::string_view(magic.data(), magic.size()));
    out.append(std::as_bytes(std::span(&version, 1)));
    append_part(out, header_of(header, run_));
    for (std::uint32_t partition = 0; partition < image.partitions(); ++partition) {
        for (const Image::Piece& piece : image.of(partition)) {
            append_part(out, piece);
        }
    }
    out.commit();
    meet();
    if (process != 0) {
        meet();  // else it might look for the latest one before that is written
        return;
    }
    OutputFile latest(name_of_latest());
    latest.append(std::to_string(before.number + 1) + " " + std::to_string(processes) + "\n");
    latest.commit();
    for (std::uint32_t i = 0; i < before.files; ++i) {
        std::filesystem::remove(name_of(before.number, i), error);
    }
    meet();
}

Checkpoint CheckpointFolder::read() const {
    const Latest found = latest();
    if (found.files == 0) {
        throw InputError(directory_ + ": there is no checkpoint to go on from; expected a file 'latest'");
    }
    Checkpoint checkpoint;
    for (std::uint32_t process = 0; process < found.files; ++process) {
        read_file(found, process, checkpoint);
    }
    return checkpoint;
}

void CheckpointFolder::read_file(const Latest& latest, std::uint32_t process, Checkpoint& checkpoint) const {
    const InputFile file(name_of(latest.number, process));
    std::array<char, magic.size()> begin{};
    std::uint32_t found_version = 0;
    if (file.size() < sizeof begin + sizeof found_version) {
        throw InputError(file.name() + ": expected a checkpoint, found " + std::to_string(file.size()) + " bytes");
    }
    file.read_at(0, std::as_writable_bytes(std::span(begin)));
    file.read_at(sizeof begin, std::as_writable_bytes(std::span(&found_version, 1)));
    if (begin != magic || found_version != version) {
        throw InputError(file.name() + ": expected a checkpoint of version " + std::to_string(version));
    }
    std::uint64_t offset = sizeof begin + sizeof found_version;
    const std::vector<std::byte> header = read_part(file, offset);
    Unpacker unpacker(header);
    unpacker(checkpoint.from);
    unpacker(checkpoint.seconds);
    unpacker(checkpoint.statistics);
    const std::size_t fixed = sizeof checkpoint.from + sizeof checkpoint.seconds + sizeof checkpoint.statistics;
    const std::string run(reinterpret_cast<const char*>(header.data()) + fixed, header.size() - fixed);
    if (run != run_) {
        throw InputError(file.name() + ": it is of another run:\n  " + run + "\nand this one is:\n  " + run_);
    }
    while (offset < file.size()) {
        checkpoint.pieces.push_back(read_part(file, offset));
    }
}

}  // namespace idlewave::pdes
