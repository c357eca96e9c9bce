#include <fftw3.h>

#include <stdexcept>

#include "line_transform.hpp"
#include "memory.hpp"

namespace ft {

struct LineTransform::Plan {
    fftw_plan fftw = nullptr;
};

namespace {

// Complex numbers of C++ and of FFTW are the same two doubles; FFTW does not write to its input.
fftw_complex* of_fftw(const Complex* numbers) {
    return reinterpret_cast<fftw_complex*>(const_cast<Complex*>(numbers));
}

}  // namespace

LineTransform::LineTransform(int length, Direction direction) : plan_(std::make_unique<Plan>()) {
    const Memory from = allocate(static_cast<size_t>(length));
    const Memory to = allocate(static_cast<size_t>(length));
    // What is chosen by measurement depends on the moment, and with it the last bits. On one line, which is in a cache,
    // it is hardly faster.
    plan_->fftw = fftw_plan_dft_1d(length, of_fftw(from.get()), of_fftw(to.get()),
                                   direction == Direction::forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
    if (plan_->fftw == nullptr) throw std::runtime_error("FFTW has no plan for a line of the domain");
}

LineTransform::~LineTransform() {
    fftw_destroy_plan(plan_->fftw);
}

void LineTransform::operator()(const Complex* from, Complex* to) const {
    fftw_execute_dft(plan_->fftw, of_fftw(from), of_fftw(to));
}

const char* transform_library() {
    return fftw_version;
}

}  // namespace ft
