// Who may use a machine: one fit at a time, and readers between fits or in the callback of an
// epoch.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define NEWFOUND_FORKS 1
#endif

namespace newfound::python {

// All methods but those of Fit are called without the interpreter's lock. Its mutex is never held
// while somebody waits for the interpreter's lock, and never for as long as a fit takes.
class Access {
 public:
  Access() {
    const std::lock_guard lock(registry().mutex);
    registry().all.insert(this);
  }
  ~Access() {
    const std::lock_guard lock(registry().mutex);
    registry().all.erase(this);
  }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // For readers: waits for the end of a fit, or for its next callback.
  std::unique_lock<std::mutex> read() {
    return wait([this] { return state_ != State::training; });
  }
  // For those who change the machine: waits for the end of a fit.
  std::unique_lock<std::mutex> write() {
    return wait([this] { return state_ == State::idle; });
  }

  // Has the machine for itself as long as it lives, but for the time of a Pause.
  class Fit {
   public:
    template <class Begin>
    Fit(Access& access, const Begin& begin) : access_(access) {
      const std::unique_lock lock = access.write();
      access.state_ = State::training;
      access.fitter_ = std::this_thread::get_id();
      begin();
    }
    ~Fit() { access_.set(State::idle); }
    Fit(const Fit&) = delete;
    Fit& operator=(const Fit&) = delete;

   private:
    Access& access_;
  };

  // The callback of an epoch: readers may come in. `end` is called when they may not any more.
  template <class Begin, class Act, class End>
  bool pause(const Begin& begin, const Act& act, const End& end) {
    {
      const std::lock_guard lock(mutex_);
      begin();
      state_ = State::paused;
    }
    const bool answer = act();
    const std::lock_guard lock(mutex_);
    state_ = State::training;
    end();
    return answer;
  }

 private:
  enum class State { idle, training, paused };

  template <class Free>
  std::unique_lock<std::mutex> wait(const Free& free) {
    using namespace std::chrono_literals;
    for (int round = 0;; ++round) {
      {
        std::unique_lock lock(mutex_);
        if (orphaned_)
          throw std::runtime_error(
              "the machine was copied by a fork in the middle of its training; load or train "
              "another one in this process");
        if (free()) return lock;
        if (fitter_ == std::this_thread::get_id())
          throw std::runtime_error(
              "the machine is being trained: its callback may read it, but not train or change it");
      }
      std::this_thread::sleep_for(1ms);
      if (round % 50 == 49) {
        nanobind::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
      }
    }
  }

  void set(State state) {
    const std::lock_guard lock(mutex_);
    state_ = state;
    if (state == State::idle) fitter_ = {};
  }

  // A forked child has only the thread that called fork(). What another thread was training there
  // never ends; whoever asks for it gets an error.
  struct Registry {
    std::mutex mutex;
    std::set<Access*> all;
  };
  static Registry& registry() {
    static Registry* const found = [] {
      auto* made = new Registry;  // never deleted: the handlers stay until the process ends
#ifdef NEWFOUND_FORKS
      pthread_atfork([] { before_fork(); }, [] { after_fork(false); }, [] { after_fork(true); });
#endif
      return made;
    }();
    return *found;
  }
  static void before_fork() {
    registry().mutex.lock();
    for (Access* access : registry().all) access->mutex_.lock();
  }
  static void after_fork(bool child) {
    for (Access* access : registry().all) {
      const bool own = access->fitter_ == std::this_thread::get_id();
      if (child && (access->state_ == State::training || (access->state_ == State::paused && !own)))
        access->orphaned_ = true;
      access->mutex_.unlock();
    }
    registry().mutex.unlock();
  }

  std::mutex mutex_;
  State state_ = State::idle;
  std::thread::id fitter_;
  bool orphaned_ = false;
};

}  // namespace newfound::python
