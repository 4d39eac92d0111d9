// Waiting of threads that meet every few microseconds: they spin for a while, then sleep, so that a
// thread that lost its core to another program can get it back.
//
// Sleepers wait for a condition variable, not for the atomic value itself: libraries implement
// std::atomic::wait differently, and in some of them a thread can miss that it was notified.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "compiler.hpp"

namespace newfound {

// A number that threads wait for.
class Signal {
 public:
  std::uint32_t value() const { return value_.load(std::memory_order_acquire); }
  void add(std::uint32_t n) {
    value_.fetch_add(n);
    wake();
  }
  void set_bits(std::uint32_t bits) {
    value_.fetch_or(bits);
    wake();
  }
  // Returns the value once it is another one.
  std::uint32_t wait_while(std::uint32_t old) {
    constexpr int kSpins = 2000;
    for (int spin = 0; spin < kSpins; ++spin) {
      if (const std::uint32_t now = value(); now != old) return now;
      pause_spinning();
    }
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    std::uint32_t now = 0;
    awake_.wait(lock, [&] { return (now = value_.load()) != old; });
    sleepers_.fetch_sub(1);
    return now;
  }

 private:
  // All operations on the value and on the sleepers, but for spinning, are sequentially consistent:
  // either this thread sees the sleeper, or the sleeper sees the new value. A sleeper that is seen
  // holds the lock until it waits.
  void wake() {
    if (sleepers_.load() == 0) return;
    {
      const std::lock_guard lock(mutex_);
    }
    awake_.notify_all();
  }

  alignas(64) std::atomic<std::uint32_t> value_{0};
  std::atomic<std::uint32_t> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable awake_;
};

// Threads meet here. A thread that fails abandons it, and the others, which would wait for ever,
// fail too.
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
    const std::uint32_t round = check(round_.value());
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.add(kNextRound);
      return;
    }
    check(round_.wait_while(round));
  }

  // Called by a thread that will not arrive again. No round can be complete after that.
  void abandon() { round_.set_bits(kAbandoned); }

 private:
  static constexpr std::uint32_t kAbandoned = 1, kNextRound = 2;
  static std::uint32_t check(std::uint32_t round) {
    if (round & kAbandoned) throw Abandoned{};
    return round;
  }

  std::uint32_t n_;
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
  Signal round_;
};

}  // namespace newfound
