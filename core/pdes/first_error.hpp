#pragma once

#include <exception>
#include <mutex>
#include <utility>

namespace idlewave::pdes {

/// Keeps the first exception of several threads.
class FirstError {
  public:
    void record(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!error_) {
            error_ = std::move(error);
        }
    }
    /// Keeps this one even if there is one already: for an interrupt, which must not be lost.
    void prefer(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        error_ = std::move(error);
    }
    void rethrow() {
        if (error_) {
            std::rethrow_exception(error_);
        }
    }

  private:
    std::mutex mutex_;
    std::exception_ptr error_;
};

}  // namespace idlewave::pdes
