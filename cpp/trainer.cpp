#include "trainer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>

#include "barrier.hpp"
#include "clause_store.hpp"
#include "compiler.hpp"
#include "random.hpp"
#include "worker.hpp"

namespace newfound {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kPollSeconds = 0.05;
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
        partial_(n_threads),
        failed_(n_threads),
        order_(static_cast<std::size_t>(documents.size())) {
    for (std::uint32_t t = 0; t < n_threads; ++t)
      workers_.push_back(std::make_unique<Worker>(store_, machine, documents, t, n_threads));
  }

  FitResult run(std::int64_t epochs) {
    epochs_ = epochs;
    std::vector<std::thread> threads;
    threads.reserve(workers_.size());
    try {
      for (std::uint32_t t = 1; t < workers_.size(); ++t)
        threads.emplace_back([this, t] {
          gate_.wait(kClosed);
          if (gate_ == kOpen) work_or_fail(t);
        });
      open_gate(kOpen);
    } catch (const std::system_error&) {
      cancel(threads);
      throw NoThreads{};
    } catch (...) {
      cancel(threads);
      throw;
    }
    work_or_fail(0);
    for (std::thread& thread : threads) thread.join();
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

  static constexpr int kClosed = 0, kOpen = 1, kCancelled = 2;

  void open_gate(int how) {
    gate_ = how;
    gate_.notify_all();
  }

  // No thread may begin before all exist: they wait for each other.
  void cancel(std::vector<std::thread>& threads) {
    open_gate(kCancelled);
    for (std::thread& thread : threads) thread.join();
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
    const double spent = seconds_since(started_);
    const double rest =
        spent * static_cast<double>(order_.size() - done) / static_cast<double>(done + 1);
    return rest > kFinishSeconds;
  }

  // One thread's work. If it fails, those that wait for it end, too.
  void work_or_fail(std::uint32_t t) {
    try {
      work(t);
    } catch (const Barrier::Abandoned&) {  // another thread failed
    } catch (...) {
      failed_[t] = std::current_exception();
      barrier_.abandon();
    }
  }

  void work(std::uint32_t t) {
    Worker& worker = *workers_[t];
    for (auto& votes : partial_[t].votes) votes.resize(focused() ? n_classes() : 2);
    worker.begin();
    barrier_.wait();
    if (t == 0) machine_.set_filled();
    for (std::int64_t epoch = 0; epoch < epochs_ && !stop_; ++epoch) {
      if (t == 0) begin_epoch();
      barrier_.wait();
      const bool complete = run_epoch(worker, t);
      barrier_.wait();
      if (t == 0) end_epoch(epoch, complete);
      barrier_.wait();
      if (check_all_) {
        const bool all = check_every_class(worker, t);
        if (t == 0 && all) {
          result_.reason = StopReason::converged;
          stop_ = true;
        }
        barrier_.wait();
      }
    }
    worker.finish();
  }

  // The slot of the epoch's i-th document in the window of cached answers; opens a window with the
  // documents that come next where one begins.
  std::uint32_t slot(std::uint32_t t, std::size_t i) {
    AnswerCache& cache = store_.cache();
    if (cache.one_window()) return order_[i];
    const auto size = static_cast<std::size_t>(cache.window_size());
    if (size == 0) return kNone;
    if (i % size == 0) {
      barrier_.wait();
      if (t == 0) cache.open_window(&order_[i], order_.data() + std::min(order_.size(), i + size));
      barrier_.wait();
    }
    return static_cast<std::uint32_t>(i % size);
  }

  bool run_epoch(Worker& worker, std::uint32_t t) {
    std::vector<double> running(n_classes());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::uint32_t document = order_[i];
      const int parity = i & 1;
      const auto target = static_cast<std::uint32_t>(labels_[document]);
      std::uint32_t other = other_class(target, document);
      worker.open(document, slot(t, i));
      std::int64_t* own_votes = partial_[t].votes[parity].data();
      if (focused()) {
        worker.vote_all(own_votes);
      } else {
        own_votes[0] = worker.vote(target);
        own_votes[1] = worker.vote(other);
      }
      if (t == 0) cut_[parity] = poll(i);
      barrier_.wait();
      if (cut_[parity]) {
        worker.close();
        return false;
      }
      if (focused()) {
        other = focused_class(target, document, parity, running);
        worker.keep_class(target);
        worker.keep_class(other);
      }
      const std::int64_t votes[2] = {sum(parity, focused() ? target : 0),
                                     sum(parity, focused() ? other : 1)};
      const std::uint64_t key = mix64(epoch_key_, (1ULL << 40) + i);
      worker.feedback(target, true, votes[0], key);
      worker.feedback(other, false, votes[1], mix64(key));
      worker.close();
      if (t == 0)
        counts_.documents_at_target += votes[0] >= this->target() && votes[1] <= -this->target();
    }
    return true;
  }

  void end_epoch(std::int64_t epoch, bool complete) {
    for (const auto& worker : workers_) {
      const EpochCounts counts = worker->take_counts();
      counts_.type_ia += counts.type_ia;
      counts_.type_ib += counts.type_ib;
      counts_.type_ii += counts.type_ii;
    }
    const bool at_target = counts_.documents_at_target == documents_.size();
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

  // Returns whether no document can give feedback, whichever other class is drawn for it.
  bool check_every_class(Worker& worker, std::uint32_t t) {
    int parity = 0;
    bool all = true;
    const auto at_target = [&](std::uint32_t document, std::uint32_t cls, std::uint32_t which) {
      const std::int64_t votes = sum(parity, which);
      return static_cast<std::int32_t>(cls) == labels_[document] ? votes >= target()
                                                                 : votes <= -target();
    };
    for (std::uint32_t document = 0; all && document < documents_.size(); ++document) {
      worker.open(document, store_.cache().one_window() ? document : kNone);
      if (focused()) {
        worker.vote_all(partial_[t].votes[parity].data());
        barrier_.wait();
        for (std::uint32_t cls = 0; all && cls < n_classes(); ++cls)
          all = at_target(document, cls, cls);
        parity ^= 1;
      } else {
        for (std::uint32_t cls = 0; all && cls < n_classes(); ++cls, parity ^= 1) {
          partial_[t].votes[parity][0] = worker.vote(cls);
          barrier_.wait();
          all = at_target(document, cls, 0);
        }
      }
      worker.close();
    }
    barrier_.wait();
    return all;
  }

  Machine& machine_;
  const Documents& documents_;
  const std::int32_t* labels_;
  const Hooks& hooks_;
  ClauseStore store_;
  Barrier barrier_;
  std::atomic<int> gate_{kClosed};
  std::vector<Partial> partial_;
  std::vector<std::exception_ptr> failed_;  // of each thread
  std::vector<std::uint32_t> order_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::int64_t epochs_ = 0;
  std::uint64_t epoch_key_ = 0;
  Clock::time_point started_, polled_ = Clock::now();
  bool cut_[2] = {false, false};
  bool interrupted_ = false, stop_ = false, check_all_ = false;
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
