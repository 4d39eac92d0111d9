// A barrier for threads that meet every few microseconds. It spins for a while, then sleeps, so
// that a thread that lost its core to another program can get it back.
#pragma once

#include <atomic>
#include <cstdint>

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
      round_.notify_all();
      return;
    }
    for (int spin = 0; spin < kSpins; ++spin) {
      if (round_.load(std::memory_order_acquire) != round) return;
      pause();
    }
    while (round_.load(std::memory_order_acquire) == round) round_.wait(round);
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
