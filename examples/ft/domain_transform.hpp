// The transform of the domain: along x, y and z, with an exchange in the plane team and one in the row team between.
//
// In space a rank has `values[z][y][x]`: its planes, of each its rows. In the spectrum it has `lines[y][x][z]`: its
// y's, of each its columns. A slab of the first exchange is a plane's rows of one rank; of the second one, a plane's
// columns of one rank on the way to the spectrum, and a y's columns on the way back.
#pragma once

#include <memory>

#include "decomposition.hpp"
#include "exchange.hpp"
#include "line_block.hpp"
#include "line_transform.hpp"
#include "phases.hpp"

namespace ft {

class Evolution;

class DomainTransform {
  public:
    // Collective over all ranks. Both arguments must outlive it.
    DomainTransform(const Decomposition& cut, Way way, Phases& phases);

    void forward(const Complex* values, Complex* lines);
    // The inverse, not scaled, of the spectrum after some evolution.
    void inverse(const Complex* lines, const Evolution& evolution, Complex* values);

    int64_t take_bytes_sent() { return in_plane_->take_bytes_sent() + in_row_->take_bytes_sent(); }

  private:
    struct Transforms {
        Transforms(const Decomposition& cut, Direction direction)
            : x(cut.nx, direction), y(cut.ny, direction), z(cut.nz, direction) {}
        LineTransform x;
        LineTransform y;
        LineTransform z;
    };

    void rows_to_plane(const Complex* values, int plane);
    void plane_to_columns(int plane);
    void columns_to_lines(int y, Complex* lines);

    void lines_to_columns(int y, const Complex* lines, const Evolution& evolution);
    void columns_to_plane(int plane);
    void plane_to_rows(int plane, Complex* values);

    const Decomposition& cut_;
    Phases& phases_;
    Transforms forward_;
    Transforms inverse_;
    LineBlock x_block_;
    LineBlock y_block_;
    LineBlock z_block_;
    std::unique_ptr<Exchange> in_plane_;
    std::unique_ptr<Exchange> in_row_;
};

}  // namespace ft
