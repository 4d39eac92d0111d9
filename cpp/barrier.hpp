// A barrier for threads that meet every few microseconds: spins a little, then yields.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace newfound {

class Barrier {
 public:
  explicit Barrier(std::uint32_t n) : n_(n) {}

  void wait() {
    if (n_ == 1) return;
    const std::uint32_t round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int spin = 0; round_.load(std::memory_order_acquire) == round; ++spin) {
      if (spin < kSpins)
        pause();
      else
        std::this_thread::yield();
    }
  }

 private:
  static constexpr int kSpins = 2000;
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  const std::uint32_t n_;
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

}  // namespace newfound
