#include "trainer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>

#include "barrier.hpp"
#include "clause_store.hpp"
#include "compiler.hpp"
#include "random.hpp"
#include "team_size.hpp"
#include "worker.hpp"

namespace newfound {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kPollSeconds = 0.05;
constexpr std::int64_t kMostVisits = 1 << 30;  // AnswerMemory counts them in 32 bits
constexpr double kFinishSeconds = 0.5;  // an epoch that ends sooner than this is not cut short

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The system provides no more threads.
struct NoThreads {};

class Training {
 public:
  Training(Machine& machine, const Documents& documents, const std::int32_t* labels,
           std::uint32_t n_threads, const Hooks& hooks)
      : machine_(machine),
        documents_(documents),
        labels_(labels),
        hooks_(hooks),
        store_(machine, documents),
        barrier_(n_threads),
        orders_(n_threads),
        partial_(n_threads),
        failed_(n_threads),
        order_(static_cast<std::size_t>(documents.size())),
        team_(n_threads, machine.execution().change_teams),
        can_remember_(Worker::can_remember(machine, documents)) {
    for (std::uint32_t t = 0; t < n_threads; ++t) {
      workers_.push_back(std::make_unique<Worker>(store_, machine, documents, t, n_threads));
      for (auto& votes : partial_[t].votes) votes.resize(focused() ? n_classes() : 2);
    }
  }

  FitResult run(std::int64_t epochs) {
    can_remember_ &= epochs <= kMostVisits / std::max<std::int64_t>(1, documents_.size());
    std::vector<std::thread> threads;
    threads.reserve(workers_.size());
    try {
      for (std::uint32_t t = 1; t < workers_.size(); ++t)
        threads.emplace_back([this, t] { follow(t); });
    } catch (const std::system_error&) {
      dismiss(threads);
      throw NoThreads{};
    } catch (...) {
      dismiss(threads);
      throw;
    }
    try_or_fail(0, [&] { lead(epochs); });
    dismiss(threads);
    for (const std::exception_ptr& error : failed_)
      if (error) {
        machine_.set_incomplete();
        std::rethrow_exception(error);
      }
    return std::move(result_);
  }

 private:
  // The votes of a thread's own clauses, for two documents in turn: by class if the other class is
  // drawn by its votes, else those of the document's class and of the other one.
  struct alignas(64) Partial {
    std::vector<std::int64_t> votes[2];
  };

  // What the first thread asks another one to do, together with the team.
  struct alignas(64) Order {
    Signal number;
    void (Training::*task)(std::uint32_t) = nullptr;
  };

  // Ends the threads: at once those that wait for an order, the others after theirs.
  void dismiss(std::vector<std::thread>& threads) {
    dismissed_ = true;
    for (Order& order : orders_) order.number.add(1);
    for (std::thread& thread : threads) thread.join();
  }

  // The thread t, other than the first one.
  void follow(std::uint32_t t) {
    try_or_fail(t, [&] {
      Order& order = orders_[t];
      for (std::uint32_t number = 0;;) {
        number = order.number.wait_while(number);
        if (dismissed_) return;
        (this->*order.task)(t);
        barrier_.wait();
      }
    });
  }

  // The first thread: a team of `size` threads does the task.
  void together(std::uint32_t size, void (Training::*task)(std::uint32_t)) {
    size_ = size;
    barrier_.set_size(size);
    for (std::uint32_t t = 1; t < size; ++t) {
      orders_[t].task = task;
      orders_[t].number.add(1);
    }
    (this->*task)(0);
    barrier_.wait();
  }

  // Calls act(worker) for the shares of a thread: in a small team each thread has several.
  template <class Act>
  void for_each_worker(std::uint32_t t, const Act& act) {
    for (std::uint32_t w = t; w < workers_.size(); w += size_) act(w);
  }

  std::uint32_t n_classes() const { return machine_.parameters().n_classes; }

  bool focused() const { return machine_.parameters().focus > 0; }
  std::int64_t target() const { return static_cast<std::int64_t>(machine_.parameters().T); }

  std::uint32_t other_class(std::uint32_t cls, std::uint32_t document) const {
    const std::uint64_t rest = n_classes() - 1;
    const auto draw = static_cast<std::uint32_t>((hash32(epoch_key_, document) * rest) >> 32);
    return draw < cls ? draw : draw + 1;
  }

  // The other class for a document whose votes are known: drawn in proportion to the power of its
  // update probability. Where no class can be updated, it does not matter which.
  std::uint32_t focused_class(std::uint32_t cls, std::uint32_t document, int parity,
                              std::vector<double>& running) const {
    double total = 0;
    for (std::uint32_t other = 0; other < n_classes(); ++other) {
      const std::int64_t votes = std::clamp(sum(parity, other), -target(), target());
      const double probability =
          static_cast<double>(target() + votes) / (2.0 * static_cast<double>(target()));
      double power = other == cls ? 0.0 : 1.0;
      for (std::uint32_t i = 0; i < machine_.parameters().focus; ++i) power *= probability;
      running[other] = total += power;
    }
    if (total == 0) return other_class(cls, document);
    const double draw =
        static_cast<double>(mix64(epoch_key_, (1ULL << 41) + document) >> 11) * 0x1p-53 * total;
    std::uint32_t other = 0;
    while (running[other] <= draw) ++other;
    return other;
  }

  std::int64_t sum(int parity, std::uint32_t which) const {
    std::int64_t total = 0;
    for (const Partial& p : partial_) total += p.votes[parity][which];
    return total;
  }

  void begin_epoch() {
    epoch_key_ = mix64(mix64(machine_.parameters().seed, 0x65706F6368ULL), machine_.epochs_seen());
    std::iota(order_.begin(), order_.end(), 0U);
    for (std::uint64_t i = order_.size(); i > 1; --i) {
      const std::uint64_t r = mix64(epoch_key_, i);
      const auto j = multiply_high(r, i);
      std::swap(order_[i - 1], order_[j]);
    }
    started_ = Clock::now();
    cut_[0] = cut_[1] = false;
  }

  // For the first thread. Returns whether to end here, in the middle of an epoch that would take
  // too long to finish.
  bool poll(std::size_t done) {
    if (seconds_since(polled_) < kPollSeconds) return false;
    polled_ = Clock::now();
    if (!interrupted_) interrupted_ = hooks_.interrupted && hooks_.interrupted();
    if (!interrupted_) return false;
    // A thread that waits for a core makes the first documents of an epoch seem slow.
    const auto all = static_cast<double>(order_.size());
    const double pace =
        std::min(seconds_since(started_) / static_cast<double>(done + 1), last_epoch_ / all);
    return pace * static_cast<double>(order_.size() - done) > kFinishSeconds;
  }

  // If a thread fails, those that wait for it end, too.
  template <class Work>
  void try_or_fail(std::uint32_t t, const Work& work) {
    try {
      work();
    } catch (const Barrier::Abandoned&) {  // another thread failed
    } catch (...) {
      failed_[t] = std::current_exception();
      barrier_.abandon();
    }
  }

  void lead(std::int64_t epochs) {
    const auto all = static_cast<std::uint32_t>(workers_.size());
    together(all, &Training::begin);
    machine_.set_filled();
    for (std::int64_t epoch = 0; epoch < epochs && !stop_; ++epoch) {
      begin_epoch();
      for (const auto& worker : workers_) worker->remember_answers(quiet_ && can_remember_);
      end_epoch(epoch, run_epoch());
      if (!check_all_) continue;
      together(team_.size(), &Training::check_every_class);
      if (all_at_target_) {
        result_.reason = StopReason::converged;
        stop_ = true;
      }
    }
    together(all, &Training::finish);
  }

  void begin(std::uint32_t t) {
    for_each_worker(t, [&](std::uint32_t w) { workers_[w]->begin(); });
  }
  void finish(std::uint32_t t) {
    for_each_worker(t, [&](std::uint32_t w) { workers_[w]->finish(); });
  }

  // Returns whether the epoch is complete.
  bool run_epoch() {
    const bool alone = workers_.size() == 1;
    for (next_ = 0, was_cut_ = false; next_ < order_.size() && !was_cut_;) {
      first_ = next_;
      next_ = alone ? order_.size() : std::min(order_.size(), first_ + team_.documents());
      const Clock::time_point start = Clock::now();
      const double running = thread_seconds();
      together(team_.size(), &Training::learn);
      team_.add(next_ - first_, seconds_since(start), thread_seconds() - running);
    }
    return !was_cut_;
  }

  // Learns the documents first_ ... next_ - 1 of the epoch.
  void learn(std::uint32_t t) {
    std::vector<double> running(n_classes());
    for (std::size_t i = first_; i < next_; ++i) {
      const std::uint32_t document = order_[i];
      const int parity = i & 1;
      const auto target = static_cast<std::uint32_t>(labels_[document]);
      std::uint32_t other = other_class(target, document);
      for_each_worker(t, [&](std::uint32_t w) {
        Worker& worker = *workers_[w];
        std::int64_t* votes = partial_[w].votes[parity].data();
        worker.open(document);
        if (focused()) {
          worker.vote_all(votes);
        } else {
          votes[0] = worker.vote(target);
          votes[1] = worker.vote(other);
        }
      });
      if (t == 0) cut_[parity] = poll(i);
      barrier_.wait();
      if (cut_[parity]) {
        for_each_worker(t, [&](std::uint32_t w) { workers_[w]->close(); });
        if (t == 0) was_cut_ = true;
        return;
      }
      if (focused()) other = focused_class(target, document, parity, running);
      const std::int64_t votes[2] = {sum(parity, focused() ? target : 0),
                                     sum(parity, focused() ? other : 1)};
      const std::uint64_t key = mix64(epoch_key_, (1ULL << 40) + i);
      for_each_worker(t, [&](std::uint32_t w) {
        Worker& worker = *workers_[w];
        if (focused()) {
          worker.keep_class(target);
          worker.keep_class(other);
        }
        worker.feedback(target, true, votes[0], key);
        worker.feedback(other, false, votes[1], mix64(key));
        worker.close();
      });
      if (t == 0)
        counts_.documents_at_target += votes[0] >= this->target() && votes[1] <= -this->target();
    }
  }

  void end_epoch(std::int64_t epoch, bool complete) {
    last_epoch_ = seconds_since(started_);
    for (const auto& worker : workers_) {
      const EpochCounts counts = worker->take_counts();
      counts_.type_ia += counts.type_ia;
      counts_.type_ib += counts.type_ib;
      counts_.type_ii += counts.type_ii;
    }
    const bool at_target = counts_.documents_at_target == documents_.size();
    quiet_ = static_cast<double>(counts_.type_ia + counts_.type_ib + counts_.type_ii) <
             machine_.execution().quiet_share * 2.0 * static_cast<double>(documents_.size()) *
                 machine_.parameters().n_clauses;
    machine_.count_epoch();
    if (complete) result_.history.push_back(counts_);
    result_.partial_epoch = !complete;
    if (interrupted_ || !complete) {
      result_.reason = StopReason::interrupted;
      stop_ = true;
    } else if (hooks_.epoch &&
               hooks_.epoch(epoch, counts_, [this] { return store_.finished_copy(); })) {
      result_.reason = StopReason::callback;
      stop_ = true;
    } else if (at_target && n_classes() == 2) {
      result_.reason = StopReason::converged;
      stop_ = true;
    }
    check_all_ = at_target && !stop_;
    counts_ = {};
  }

  // Finds out whether no document can give feedback, whichever other class is drawn for it.
  void check_every_class(std::uint32_t t) {
    int parity = 0;
    bool all = true;
    const auto at_target = [&](std::uint32_t document, std::uint32_t cls, std::uint32_t which) {
      const std::int64_t votes = sum(parity, which);
      return static_cast<std::int32_t>(cls) == labels_[document] ? votes >= target()
                                                                 : votes <= -target();
    };
    const auto open = [&](std::uint32_t document) {
      for_each_worker(t, [&](std::uint32_t w) { workers_[w]->open(document); });
    };
    for (std::uint32_t document = 0; all && document < documents_.size(); ++document) {
      open(document);
      if (focused()) {
        for_each_worker(
            t, [&](std::uint32_t w) { workers_[w]->vote_all(partial_[w].votes[parity].data()); });
        barrier_.wait();
        for (std::uint32_t cls = 0; all && cls < n_classes(); ++cls)
          all = at_target(document, cls, cls);
        parity ^= 1;
      } else {
        for (std::uint32_t cls = 0; all && cls < n_classes(); ++cls, parity ^= 1) {
          for_each_worker(
              t, [&](std::uint32_t w) { partial_[w].votes[parity][0] = workers_[w]->vote(cls); });
          barrier_.wait();
          all = at_target(document, cls, 0);
        }
      }
      for_each_worker(t, [&](std::uint32_t w) { workers_[w]->close(); });
    }
    if (t == 0) all_at_target_ = all;
  }

  Machine& machine_;
  const Documents& documents_;
  const std::int32_t* labels_;
  const Hooks& hooks_;
  ClauseStore store_;
  Barrier barrier_;
  std::atomic<bool> dismissed_{false};
  std::vector<Order> orders_;
  std::vector<Partial> partial_;
  std::vector<std::exception_ptr> failed_;  // of each thread
  std::vector<std::uint32_t> order_;
  std::vector<std::unique_ptr<Worker>> workers_;
  TeamSize team_;
  bool can_remember_;
  std::uint32_t size_ = 0;  // of the team at work
  std::size_t first_ = 0, next_ = 0;
  std::uint64_t epoch_key_ = 0;
  Clock::time_point started_, polled_ = Clock::now();
  double last_epoch_ = std::numeric_limits<double>::infinity();  // seconds
  bool cut_[2] = {false, false};
  bool interrupted_ = false, stop_ = false, was_cut_ = false;
  bool check_all_ = false, all_at_target_ = false;
  bool quiet_ = false;  // few clauses got feedback in the last epoch
  EpochCounts counts_;
  FitResult result_;
};

}  // namespace

FitResult fit(Machine& machine, const CsrView& csr, const std::int32_t* labels, std::int64_t epochs,
              std::uint32_t n_threads, const Hooks& hooks) {
  machine.check_complete();
  if (!machine.ordered()) machine.order_by_frequency(csr);
  const Documents documents(csr, machine.position());
  const std::uint32_t shares =
      machine.parameters().n_clauses / machine.execution().clauses_per_thread;
  const std::uint32_t threads = std::max(1U, std::min(n_threads, shares));
  try {
    return Training(machine, documents, labels, threads, hooks).run(epochs);
  } catch (const NoThreads&) {  // nothing was done yet, and one thread gives the same machine
    return Training(machine, documents, labels, 1, hooks).run(epochs);
  }
}

}  // namespace newfound
