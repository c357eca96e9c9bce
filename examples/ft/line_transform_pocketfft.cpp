// pocketfft is one file of C that is C++, too: included as a system header, it is compiled without our warnings.
#include <algorithm>
#include <new>
#include <pocketfft.c>

#include "line_transform.hpp"

namespace ft {

struct LineTransform::Plan {
    cfft_plan pocketfft = nullptr;
    Direction direction = Direction::forward;
};

LineTransform::LineTransform(int length, Direction direction) : plan_(std::make_unique<Plan>()) {
    plan_->pocketfft = make_cfft_plan(static_cast<size_t>(length));
    plan_->direction = direction;
    if (plan_->pocketfft == nullptr) throw std::bad_alloc();
}

LineTransform::~LineTransform() {
    destroy_cfft_plan(plan_->pocketfft);
}

void LineTransform::operator()(const Complex* from, Complex* to) const {
    std::copy_n(from, cfft_length(plan_->pocketfft), to);
    double* numbers = reinterpret_cast<double*>(to);
    const int failed = plan_->direction == Direction::forward ? cfft_forward(plan_->pocketfft, numbers, 1.0)
                                                              : cfft_backward(plan_->pocketfft, numbers, 1.0);
    if (failed != 0) throw std::bad_alloc();
}

const char* transform_library() {
    return "pocketfft";
}

}  // namespace ft
