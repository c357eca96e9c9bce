#include "domain_transform.hpp"

#include <algorithm>

#include "evolution.hpp"

namespace ft {
namespace {

size_t product(int a, int b) {
    return static_cast<size_t>(a) * static_cast<size_t>(b);
}

// Call `work(first, columns)` for the columns in blocks.
template <typename Work>
void in_blocks(int columns, const Work& work) {
    for (int first = 0; first < columns; first += LineBlock::most)
        work(first, std::min(LineBlock::most, columns - first));
}

// Begin the second loop of a pipeline of two when the first one ends, unless each slab is there at once.
template <typename Produce, typename Consume>
void in_two_loops(int slabs, bool at_once, const Produce& produce, const Consume& consume) {
    for (int slab = 0; slab < slabs; ++slab) {
        produce(slab);
        if (at_once) consume(slab);
    }
    for (int slab = 0; slab < slabs && !at_once; ++slab) consume(slab);
}

}  // namespace

DomainTransform::DomainTransform(const Decomposition& cut, Way way, Phases& phases)
    : cut_(cut),
      phases_(phases),
      forward_(cut, Direction::forward),
      inverse_(cut, Direction::inverse),
      x_block_(cut.nx),
      y_block_(cut.ny),
      z_block_(cut.nz) {
    const auto points = static_cast<size_t>(cut.points());
    const size_t in_plane = cut.plane.members == 1 ? product(cut.nx, cut.ny) : points;
    in_plane_ = make_exchange(way, cut.plane, in_plane, true);
    in_row_ = make_exchange(way, cut.row, points, false);
}

void DomainTransform::forward(const Complex* values, Complex* lines) {
    phases_.enter(Phase::exchange_1);
    in_plane_->begin({.slabs = cut_.z_planes, .piece = cut_.y_rows * cut_.x_columns});
    phases_.enter(Phase::exchange_2);
    in_row_->begin({.slabs = cut_.z_planes, .piece = cut_.y_lines * cut_.x_columns});
    in_two_loops(
        cut_.z_planes, in_plane_->passes_on(), [&](int plane) { rows_to_plane(values, plane); },
        [&](int plane) { plane_to_columns(plane); });
    phases_.enter(Phase::exchange_1);
    in_plane_->end();
    phases_.enter(Phase::exchange_2);
    for (int plane = 0; plane < cut_.z_planes; ++plane) in_row_->wait_for(plane);
    for (int y = 0; y < cut_.y_lines; ++y) columns_to_lines(y, lines);
    phases_.enter(Phase::exchange_2);
    in_row_->end();
}

void DomainTransform::inverse(const Complex* lines, const Evolution& evolution, Complex* values) {
    phases_.enter(Phase::exchange_2);
    in_row_->begin({.slabs = cut_.y_lines, .piece = cut_.z_planes * cut_.x_columns});
    phases_.enter(Phase::exchange_1);
    in_plane_->begin({.slabs = cut_.z_planes, .piece = cut_.y_rows * cut_.x_columns});
    for (int y = 0; y < cut_.y_lines; ++y) lines_to_columns(y, lines, evolution);
    phases_.enter(Phase::exchange_2);
    for (int y = 0; y < cut_.y_lines; ++y) in_row_->wait_for(y);
    in_two_loops(
        cut_.z_planes, in_plane_->passes_on(), [&](int plane) { columns_to_plane(plane); },
        [&](int plane) { plane_to_rows(plane, values); });
    phases_.enter(Phase::exchange_2);
    in_row_->end();
    phases_.enter(Phase::exchange_1);
    in_plane_->end();
}

// Transform a plane's own rows along x, and send every member of the plane team its columns of them.
void DomainTransform::rows_to_plane(const Complex* values, int plane) {
    phases_.enter(Phase::fft_x);
    const auto columns = static_cast<size_t>(cut_.x_columns);
    for (int y = 0; y < cut_.y_rows; ++y) {
        const Complex* row = values + (product(plane, cut_.y_rows) + static_cast<size_t>(y)) * product(cut_.nx, 1);
        if (in_plane_->members() == 1) {
            forward_.x(row, in_plane_->outgoing(plane, 0) + product(y, cut_.nx));
            continue;
        }
        Complex* transformed = x_block_.to(0);
        forward_.x(row, transformed);
        for (int member = 0; member < in_plane_->members(); ++member) {
            std::copy_n(transformed + product(member, cut_.x_columns), columns,
                        in_plane_->outgoing(plane, member) + product(y, cut_.x_columns));
        }
    }
    phases_.enter(Phase::exchange_1);
    in_plane_->send(plane);
}

// Transform a plane's own columns along y, and send every member of the row team its y's of them.
void DomainTransform::plane_to_columns(int plane) {
    phases_.enter(Phase::exchange_1);
    in_plane_->wait_for(plane);
    phases_.enter(Phase::fft_y);
    const auto stride = static_cast<size_t>(cut_.x_columns);
    in_blocks(cut_.x_columns, [&](int first, int columns) {
        for (int member = 0; member < in_plane_->members(); ++member) {
            y_block_.gather(member * cut_.y_rows, cut_.y_rows, in_plane_->incoming(plane, member) + first, stride,
                            columns);
        }
        y_block_.transform(forward_.y, columns);
        for (int member = 0; member < in_row_->members(); ++member) {
            y_block_.scatter(member * cut_.y_lines, cut_.y_lines, in_row_->outgoing(plane, member) + first, stride,
                             columns);
        }
    });
    phases_.enter(Phase::exchange_2);
    in_row_->send(plane);
}

// Transform the columns of one y along z.
void DomainTransform::columns_to_lines(int y, Complex* lines) {
    phases_.enter(Phase::fft_z);
    in_blocks(cut_.x_columns, [&](int first, int columns) {
        for (int member = 0; member < in_row_->members(); ++member) {
            z_block_.gather(member * cut_.z_planes, cut_.z_planes,
                            in_row_->incoming(0, member) + product(y, cut_.x_columns) + first, in_row_->slab_stride(),
                            columns);
        }
        for (int c = 0; c < columns; ++c) {
            forward_.z(z_block_.from(c), lines + (product(y, cut_.x_columns) + static_cast<size_t>(first + c)) *
                                                     static_cast<size_t>(cut_.nz));
        }
    });
}

// Evolve the columns of one y, transform them along z, and send every member of the row team its planes of them.
void DomainTransform::lines_to_columns(int y, const Complex* lines, const Evolution& evolution) {
    in_blocks(cut_.x_columns, [&](int first, int columns) {
        phases_.enter(Phase::evolve);
        for (int c = 0; c < columns; ++c) {
            const int x = first + c;
            const Complex* line = lines + (product(y, cut_.x_columns) + static_cast<size_t>(x)) * product(cut_.nz, 1);
            evolution.apply(line, y, x, z_block_.from(c));
        }
        phases_.enter(Phase::fft_z);
        z_block_.transform(inverse_.z, columns);
        for (int member = 0; member < in_row_->members(); ++member) {
            z_block_.scatter(member * cut_.z_planes, cut_.z_planes, in_row_->outgoing(y, member) + first,
                             static_cast<size_t>(cut_.x_columns), columns);
        }
    });
    phases_.enter(Phase::exchange_2);
    in_row_->send(y);
}

// Transform a plane's own columns along y, and send every member of the plane team its rows of them.
void DomainTransform::columns_to_plane(int plane) {
    phases_.enter(Phase::fft_y);
    in_blocks(cut_.x_columns, [&](int first, int columns) {
        for (int member = 0; member < in_row_->members(); ++member) {
            y_block_.gather(member * cut_.y_lines, cut_.y_lines,
                            in_row_->incoming(0, member) + product(plane, cut_.x_columns) + first,
                            in_row_->slab_stride(), columns);
        }
        y_block_.transform(inverse_.y, columns);
        for (int member = 0; member < in_plane_->members(); ++member) {
            y_block_.scatter(member * cut_.y_rows, cut_.y_rows, in_plane_->outgoing(plane, member) + first,
                             static_cast<size_t>(cut_.x_columns), columns);
        }
    });
    phases_.enter(Phase::exchange_1);
    in_plane_->send(plane);
}

// Transform a plane's own rows along x.
void DomainTransform::plane_to_rows(int plane, Complex* values) {
    phases_.enter(Phase::exchange_1);
    in_plane_->wait_for(plane);
    phases_.enter(Phase::fft_x);
    const auto columns = static_cast<size_t>(cut_.x_columns);
    for (int y = 0; y < cut_.y_rows; ++y) {
        Complex* row = values + (product(plane, cut_.y_rows) + static_cast<size_t>(y)) * product(cut_.nx, 1);
        if (in_plane_->members() == 1) {
            inverse_.x(in_plane_->incoming(plane, 0) + product(y, cut_.nx), row);
            continue;
        }
        for (int member = 0; member < in_plane_->members(); ++member) {
            std::copy_n(in_plane_->incoming(plane, member) + product(y, cut_.x_columns), columns,
                        x_block_.from(0) + product(member, cut_.x_columns));
        }
        inverse_.x(x_block_.from(0), row);
    }
}

}  // namespace ft
