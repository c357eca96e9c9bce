#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace idlewave::testing {

/// Damage to binary files: bits, bytes, numbers of all widths, blocks that are left out, doubled or exchanged, a cut,
/// and pieces of other files. Of the same seed comes the same damage.
class Mutation {
  public:
    Mutation(std::uint64_t seed, std::size_t largest) : random_(seed), largest_(largest) {}

    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound); }

    /// Damages `file` in one to eight ways; `other` is a file from which pieces are taken.
    void damage(std::string& file, const std::string& other) {
        for (std::size_t times = std::size_t{1} << below(4); times > 0; --times) {
            damage_once(file, other);
        }
        file.resize(std::min(file.size(), largest_));
    }

  private:
    void damage_once(std::string& file, const std::string& other) {
        switch (below(9)) {
            case 0:
                return flip_bit(file);
            case 1:
                return set_byte(file);
            case 2:
                return set_number(file);
            case 3:
                return add_to_number(file);
            case 4:
                return cut(file);
            case 5:
                return erase(file);
            case 6:
                return insert(file, file);
            case 7:
                return insert(file, other);
            default:
                return copy_over(file, below(2) == 0 ? file : other);
        }
    }

    void flip_bit(std::string& file) {
        if (!file.empty()) {
            char& byte = file[below(file.size())];
            byte = static_cast<char>(byte ^ (1 << below(8)));
        }
    }

    void set_byte(std::string& file) {
        if (!file.empty()) {
            file[below(file.size())] = static_cast<char>(below(256));
        }
    }

    /// Numbers at which readers change what they do.
    std::uint64_t edge() {
        constexpr std::array<std::uint64_t, 8> some{
            0, 1, 2, 127, 255, 1 << 16, std::uint64_t{1} << 31, ~std::uint64_t{0}};
        const std::uint64_t power = std::uint64_t{1} << below(64);
        return below(2) == 0 ? some[below(some.size())] : power - below(3);
    }

    /// A width, and where a number of it lies in the file, mostly on a multiple of the width; false if it does not fit.
    bool find_number(const std::string& file, std::size_t& at, std::size_t& width) {
        width = std::size_t{1} << below(4);
        if (file.size() < width) {
            return false;
        }
        at = below(file.size() - width + 1);
        at -= below(4) == 0 ? 0 : at % width;
        return true;
    }

    void set_number(std::string& file) {
        std::size_t at = 0;
        std::size_t width = 0;
        if (find_number(file, at, width)) {
            const std::uint64_t value = edge();
            std::memcpy(file.data() + at, &value, width);
        }
    }

    void add_to_number(std::string& file) {
        std::size_t at = 0;
        std::size_t width = 0;
        if (find_number(file, at, width)) {
            std::uint64_t value = 0;
            std::memcpy(&value, file.data() + at, width);
            value += below(2) == 0 ? 1 + below(16) : ~std::uint64_t{0} - below(16);
            std::memcpy(file.data() + at, &value, width);
        }
    }

    void cut(std::string& file) {
        if (below(4) == 0) {  // less often than the rest: it leaves less to damage
            file.resize(below(file.size() + 1));
        }
    }

    /// A stretch of a file, mostly short, and often of whole words.
    std::pair<std::size_t, std::size_t> stretch(const std::string& file) {
        const bool words = below(2) == 0;
        std::size_t at = below(file.size() + 1);
        at -= words ? at % 8 : 0;
        std::size_t size = below(4) == 0 ? below(file.size() - at + 1) : std::min(file.size() - at, 1 + below(64));
        size -= words ? size % 8 : 0;
        return {at, size};
    }

    void erase(std::string& file) {
        const auto [at, size] = stretch(file);
        file.erase(at, size);
    }

    void insert(std::string& file, const std::string& from) {
        const auto [at, size] = stretch(from);
        const std::string piece = from.substr(at, std::min(size, largest_));
        file.insert(stretch(file).first, piece);
    }

    void copy_over(std::string& file, const std::string& from) {
        const auto [at, size] = stretch(from);
        const std::string piece = from.substr(at, size);
        const std::size_t to = stretch(file).first;
        file.replace(to, std::min(piece.size(), file.size() - to), piece);
    }

    std::mt19937_64 random_;
    std::size_t largest_;
};

}  // namespace idlewave::testing
