// A barrier for threads that meet every few microseconds. It spins for a while, then sleeps, so
// that a thread that lost its core to another program can get it back. A thread that fails abandons
// it, and the others, which would wait for ever, fail too.
//
// Before they notify, threads change values by sequentially consistent operations: after a mere
// store a library may look for sleepers before these can see it, and then nobody wakes them.
#pragma once

#include <atomic>
#include <cstdint>

#include "compiler.hpp"

namespace newfound {

// Returns the value once it is another one.
inline std::uint32_t wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  constexpr int kSpins = 2000;
  std::uint32_t now = value.load(std::memory_order_acquire);
  for (int spin = 0; spin < kSpins && now == old; ++spin) {
    pause_spinning();
    now = value.load(std::memory_order_acquire);
  }
  while (now == old) {
    value.wait(old);
    now = value.load(std::memory_order_acquire);
  }
  return now;
}

class Barrier {
 public:
  // What wait() throws once a thread has called abandon().
  struct Abandoned {};

  explicit Barrier(std::uint32_t n) : n_(n) {}

  // How many threads meet from now on. For one of them, after all have arrived.
  void set_size(std::uint32_t n) { n_ = n; }

  void wait() {
    const std::uint32_t n = n_;  // before the last thread arrives, which may change it
    if (n == 1) return;
    const std::uint32_t round = check(round_.load(std::memory_order_relaxed));
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.exchange(round + kNextRound);
      round_.notify_all();
      return;
    }
    check(wait_while(round_, round));
  }

  // Called by a thread that will not arrive again. No round can be complete after that, so nobody
  // overwrites the bit.
  void abandon() {
    round_.fetch_or(kAbandoned);
    round_.notify_all();
  }

 private:
  static constexpr std::uint32_t kAbandoned = 1, kNextRound = 2;
  static std::uint32_t check(std::uint32_t round) {
    if (round & kAbandoned) throw Abandoned{};
    return round;
  }

  std::uint32_t n_;
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

}  // namespace newfound
