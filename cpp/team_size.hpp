// How many threads work together: fewer where another program takes their cores.
//
// Threads wait for each other at every document. Where one of them loses its core, all of them
// stand still, and fewer threads, each with more clauses, are faster. TeamSize tries it out: it
// compares the documents a second of one size of the team with those of another one.
#pragma once

#include <time.h>  // clock_gettime is no part of C++

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace newfound {

// Seconds for which this thread has had a core; the time of the clock where that is not known.
inline double thread_seconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
  timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0)
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#endif
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class TeamSize {
 public:
  // `change`: for tests, another size after every few documents, whatever is faster.
  TeamSize(std::uint32_t largest, bool change)
      : largest_(largest), change_(change), size_(largest), before_(largest) {}

  std::uint32_t size() const { return size_; }
  // How many documents to learn before the next call of add().
  std::size_t documents() const { return documents_; }

  // The team has learned documents in so many seconds, in which the first thread had a core for
  // `running` seconds.
  void add(std::size_t documents, double seconds, double running) {
    if (change_) {
      size_ = size_ % largest_ + 1;
      documents_ = 3;
      return;
    }
    done_ += documents;
    seconds_ += seconds;
    running_ += running;
    if (seconds < kMeasured / 4)
      documents_ = documents_ < kMostDocuments ? 2 * documents_ : documents_;
    else if (seconds > kMeasured && documents_ > 1)
      documents_ /= 2;
    if (seconds_ < kMeasured) return;
    decide(static_cast<double>(done_) / seconds_, running_ < kRunning * seconds_);
    done_ = 0;
    seconds_ = running_ = 0;
  }

 private:
  static constexpr double kMeasured = 0.02;  // seconds between two decisions, at least
  static constexpr double kRunning = 0.8;    // with a core for less of the time, it was taken away
  static constexpr double kFaster = 1.05;    // a larger team has to be so much faster
  static constexpr std::uint32_t kFirstPause = 8, kLongestPause = 64;  // decisions between trials
  static constexpr std::size_t kMostDocuments = std::size_t{1} << 20;

  void decide(double rate, bool waited) {
    if (size_ != before_) {  // a trial
      if (rate > rate_before_ * (size_ > before_ ? kFaster : 1.0)) {
        pause_ = kFirstPause;
        before_ = size_;
      } else {
        pause_ = 2 * pause_ < kLongestPause ? 2 * pause_ : kLongestPause;
        size_ = before_;
      }
      left_ = pause_;
      return;
    }
    if (left_ > 0) {
      --left_;
      return;
    }
    rate_before_ = rate;
    if (waited && size_ > 1)
      size_ = (size_ + 1) / 2;
    else if (size_ < largest_)
      size_ = 2 * size_ < largest_ ? 2 * size_ : largest_;
  }

  const std::uint32_t largest_;
  const bool change_;
  std::uint32_t size_, before_;  // different during a trial
  double rate_before_ = 0;       // documents a second of the team before the trial
  std::uint32_t pause_ = kFirstPause / 2, left_ = 0;
  std::size_t documents_ = 1, done_ = 0;
  double seconds_ = 0, running_ = 0;
};

}  // namespace newfound
