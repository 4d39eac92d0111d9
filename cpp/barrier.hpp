// A barrier for threads that meet every few microseconds. It spins for a while, then sleeps, so
// that a thread that lost its core to another program can get it back. A thread that fails abandons
// it, and the others, which would wait for ever, fail too.
#pragma once

#include <atomic>
#include <cstdint>

#include "compiler.hpp"

namespace newfound {

class Barrier {
 public:
  // What wait() throws once a thread has called abandon().
  struct Abandoned {};

  explicit Barrier(std::uint32_t n) : n_(n) {}

  void wait() {
    if (n_ == 1) return;
    const std::uint32_t round = check(round_.load(std::memory_order_relaxed));
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + kNextRound, std::memory_order_release);
      round_.notify_all();
      return;
    }
    std::uint32_t now = round;
    for (int spin = 0; spin < kSpins && now == round; ++spin) {
      pause_spinning();
      now = round_.load(std::memory_order_acquire);
    }
    while (now == round) {
      round_.wait(round);
      now = round_.load(std::memory_order_acquire);
    }
    check(now);
  }

  // Called by a thread that will not arrive again. No round can be complete after that, so nobody
  // overwrites the bit.
  void abandon() {
    round_.fetch_or(kAbandoned, std::memory_order_release);
    round_.notify_all();
  }

 private:
  static constexpr int kSpins = 2000;
  static constexpr std::uint32_t kAbandoned = 1, kNextRound = 2;
  static std::uint32_t check(std::uint32_t round) {
    if (round & kAbandoned) throw Abandoned{};
    return round;
  }

  const std::uint32_t n_;
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

}  // namespace newfound
