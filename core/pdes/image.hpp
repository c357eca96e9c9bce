#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace idlewave::pdes {

/// What a piece of an image says of a run, one after the other.
enum class Kept : std::uint8_t {
    lp,      ///< its number, its sequence, its state; before all that follows of it
    timer,   ///< when it is to be visited by its own wish: LP, time
    event,   ///< that waits: time, whom, source, sequence, payload
    output,  ///< that is certain
};

/// A run between two legs, by the partition of the next leg that each part is for: in pieces of which each can be read
/// alone.
class Image {
  public:
    using Piece = std::vector<std::byte>;

    explicit Image(std::uint32_t partitions) : pieces_(partitions) {}

    /// Where to add what one thing is.
    Piece& open(std::uint32_t partition) {
        std::vector<Piece>& pieces = pieces_[partition];
        if (pieces.empty() || pieces.back().size() >= full) {
            pieces.emplace_back();
        }
        return pieces.back();
    }
    void add(std::uint32_t partition, Piece piece) { pieces_[partition].push_back(std::move(piece)); }
    void add(Image other) {
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            std::move(other.pieces_[i].begin(), other.pieces_[i].end(), std::back_inserter(pieces_[i]));
        }
    }

    [[nodiscard]] std::uint32_t partitions() const { return static_cast<std::uint32_t>(pieces_.size()); }
    /// Those for a partition; whoever reads one may drop it.
    [[nodiscard]] std::vector<Piece>& of(std::uint32_t partition) { return pieces_[partition]; }
    [[nodiscard]] const std::vector<Piece>& of(std::uint32_t partition) const { return pieces_[partition]; }

  private:
    static constexpr std::size_t full = std::size_t{1} << 22;

    std::vector<std::vector<Piece>> pieces_;
};

}  // namespace idlewave::pdes
