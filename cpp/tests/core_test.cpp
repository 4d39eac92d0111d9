// The core without Python, for the sanitisers: fits of many kinds on every instruction set, number
// of threads and processor must give the same automata, votes must be what the clauses say, and a
// fit that fails must end with an exception.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "barrier.hpp"
#include "kernels.hpp"
#include "machine.hpp"
#include "random.hpp"
#include "rule_set.hpp"
#include "team_size.hpp"
#include "trainer.hpp"

namespace {

using namespace newfound;

// How many more allocations succeed, on any thread; negative: all of them.
std::atomic<std::int64_t> allocations_left{-1};

}  // namespace

void* operator new(std::size_t size) {
  std::int64_t left = allocations_left.load();
  while (left >= 0 && !allocations_left.compare_exchange_weak(left, left > 0 ? left - 1 : 0)) {
  }
  void* memory = left == 0 ? nullptr : std::malloc(size > 0 ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size) { return operator new(size); }

void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

struct Corpus {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices;
  std::vector<std::int32_t> labels;
  std::uint32_t n_features;
  CsrView view() const {
    return {indptr.data(), indices.data(), static_cast<std::int64_t>(labels.size())};
  }
};

Corpus make_corpus(std::uint32_t n_documents, std::uint32_t n_features, std::uint32_t n_classes) {
  Corpus corpus;
  corpus.n_features = n_features;
  for (std::uint32_t d = 0; d < n_documents; ++d) {
    const std::uint32_t label = d % n_classes;
    for (std::uint32_t f = 0; f < n_features; ++f) {
      const double chance = (f % n_classes == label ? 2.0 : 1.0) / (2.0 + f / 4.0);
      if (to_unit(mix64(d, f)) < chance) corpus.indices.push_back(static_cast<std::int32_t>(f));
    }
    corpus.indptr.push_back(static_cast<std::int64_t>(corpus.indices.size()));
    corpus.labels.push_back(static_cast<std::int32_t>(label));
  }
  return corpus;
}

int passed = 0;

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

std::vector<std::uint8_t> states_of(const Machine& machine) {
  const Parameters& p = machine.parameters();
  std::vector<std::uint8_t> states(std::size_t{2} * p.n_classes * p.n_clauses * p.n_features);
  machine.copy_states(states.data());
  return states;
}

// Of the automata. The same on every processor: whoever changes the law of the machine, or the
// order of its draws, on purpose replaces the numbers in main(); nobody else may.
std::uint64_t hash_of(const std::vector<std::uint8_t>& states) {
  std::uint64_t hash = states.size();
  for (const std::uint8_t state : states) hash = mix64(hash, state);
  return hash;
}

void check_hash(const std::vector<std::uint8_t>& states, std::uint64_t expected,
                const std::string& name) {
  const std::uint64_t hash = hash_of(states);
  std::printf("%s: the automata have the hash 0x%016llXULL\n", name.c_str(),
              static_cast<unsigned long long>(hash));
  require(hash == expected, name + ": other automata than on other processors");
}

void check_votes(const Machine& machine, const Corpus& corpus, const std::string& name) {
  const Parameters& p = machine.parameters();
  const ClauseLists lists = machine.clauses(2);
  const RuleSet rules(lists.begin, lists.literals, p.n_features, machine.position());
  std::vector<std::int32_t> votes(corpus.labels.size() * p.n_classes);
  rules.votes(corpus.view(), machine.signed_weights().data(), p.n_classes, 3, votes.data());
  for (std::size_t d = 0; d < corpus.labels.size(); ++d) {
    std::vector<bool> present(p.n_features, false);
    for (std::int64_t i = corpus.indptr[d]; i < corpus.indptr[d + 1]; ++i)
      present[static_cast<std::size_t>(corpus.indices[static_cast<std::size_t>(i)])] = true;
    std::vector<std::int32_t> expected(p.n_classes, 0);
    for (std::uint32_t c = 0; c < machine.total_clauses(); ++c) {
      bool match = lists.begin[c] < lists.begin[c + 1];
      for (std::int64_t i = lists.begin[c]; i < lists.begin[c + 1]; ++i) {
        const auto literal =
            static_cast<std::uint32_t>(lists.literals[static_cast<std::size_t>(i)]);
        match &= literal < p.n_features ? present[literal] : !present[literal - p.n_features];
      }
      const auto weight = static_cast<std::int32_t>(machine.weights()[c]);
      if (match) expected[c / p.n_clauses] += c % p.n_clauses < p.n_clauses / 2 ? weight : -weight;
    }
    for (std::uint32_t k = 0; k < p.n_classes; ++k)
      require(votes[d * p.n_classes + k] == expected[k], name + ": votes");
  }
}

// Small machines on as many threads as asked for.
Execution threaded() {
  Execution execution;
  execution.clauses_per_thread = 2;
  return execution;
}

void check_fits(const Parameters& p, const Corpus& corpus, std::int64_t epochs,
                const std::string& name, std::uint64_t hash, Execution execution = threaded()) {
  std::vector<std::uint8_t> expected;
  for (const Kernels* const* k = available_kernels(); *k; ++k)
    for (const std::uint32_t n_threads : {1U, 2U, 5U}) {
      execution.kernels = *k;
      Machine machine(p, execution);
      for (int call = 0; call < 2; ++call)  // the second one goes on
        fit(machine, corpus.view(), corpus.labels.data(), epochs, n_threads, {});
      const std::vector<std::uint8_t> states = states_of(machine);
      if (expected.empty()) {
        expected = states;
        check_votes(machine, corpus, name);
      }
      require(states == expected,
              name + ": " + (*k)->name + ", " + std::to_string(n_threads) + " threads");
    }
  check_hash(expected, hash, name);
  ++passed;
}

// Selection of clauses, also where a hash is just at the limit, which hardly ever happens in a fit.
void check_selection() {
  for (std::uint64_t key = 0; key < 200; ++key) {
    const auto begin = static_cast<std::uint32_t>(key % 5);
    const auto end = static_cast<std::uint32_t>(begin + 1 + mix64(1, key) % 60);
    const auto at = static_cast<std::uint32_t>(begin + mix64(2, key) % (end - begin));
    const std::uint32_t limit = hash32(mix64(key), at);
    std::vector<std::uint32_t> counts(end), due(end), all;
    std::vector<std::uint8_t> matched(end);
    for (std::uint32_t j = 0; j < end; ++j) {
      counts[j] = static_cast<std::uint32_t>(mix64(3, j) % 3);
      due[j] = static_cast<std::uint32_t>(mix64(key, j) % 4);
      matched[j] = j != at && mix64(4, j) % 3 == 0;
    }
    std::vector<std::uint32_t> after = counts;
    std::int64_t selected = 0;
    for (std::uint32_t j = begin; j < end; ++j) {
      if (matched[j] || hash32(mix64(key), j) > limit) continue;
      ++selected;
      if (++after[j] >= due[j]) all.push_back(j);
    }
    for (const Kernels* const* k = available_kernels(); *k; ++k) {
      std::vector<std::uint32_t> ib = counts, out(end), changed(end, 1);
      std::int64_t events = 5;
      out.resize((*k)->select_ib(ib.data(), due.data(), matched.data(), begin, end, limit,
                                 mix64(key), out.data(), changed.data(), 7, &events));
      bool stamped = true;
      for (std::uint32_t j = 0; j < end; ++j)
        stamped &= changed[j] == (after[j] != counts[j] ? 7U : 1U);
      require(out == all && ib == after && stamped && events == 5 + selected,
              std::string("selection: ") + (*k)->name);
    }
  }
  ++passed;
}

// Learns documents for `seconds` in a team that has `rate[size]` documents a second, and whose
// first thread has a core all the time if it is alone, else for `running` of it. Returns how many
// of them.
double learn(TeamSize& team, const std::vector<double>& rate, double running, double seconds) {
  double learned = 0;
  for (double passed = 0; passed < seconds;) {
    const double took = static_cast<double>(team.documents()) / rate[team.size()];
    team.add(team.documents(), took, team.size() > 1 ? running * took : took);
    learned += static_cast<double>(team.documents());
    passed += took;
  }
  return learned;
}

void check_team_size() {
  TeamSize two(2, false);
  learn(two, {0, 3000, 5000}, 0.97, 2);
  require(two.size() == 2, "a quiet machine: all threads");
  const double learned = learn(two, {0, 3000, 2000}, 0.6, 20);
  require(learned > 0.95 * 20 * 3000, "a busy core: as fast as one thread");
  learn(two, {0, 3000, 5000}, 0.97, 3);
  require(two.size() == 2, "a core that is free again: all threads");
  learn(two, {0, 3000, 4000}, 0.6, 3);
  require(two.size() == 2, "all threads where they wait, but are faster");
  TeamSize eight(8, false);
  require(learn(eight, {0, 900, 1800, 2000, 3600, 0, 0, 0, 1500}, 0.5, 20) > 0.9 * 20 * 3600,
          "half of the threads where that is fastest");
  ++passed;
}

// More Ib events than a line's counter of trials holds.
void check_long_fit(const Corpus& corpus, std::uint64_t hash) {
  Parameters p{2, corpus.n_features, 4, 1000000, 8.0, false, 0, 7};
  std::vector<std::uint8_t> expected;
  for (const Kernels* const* k = available_kernels(); *k; ++k) {
    Execution execution;
    execution.kernels = *k;
    Machine machine(p, execution);
    const FitResult result = fit(machine, corpus.view(), corpus.labels.data(), 32000, 1, {});
    std::int64_t ib = 0;
    for (const EpochCounts& epoch : result.history) ib += epoch.type_ib;
    require(ib / 8 > 70000, "long fit: Ib events");
    if (expected.empty()) expected = states_of(machine);
    require(states_of(machine) == expected, std::string("long fit: ") + (*k)->name);
  }
  check_hash(expected, hash, "long fit");
  ++passed;
}

void check_ends(const Corpus& corpus) {
  const Parameters p{2, 300, 60, 10, 25.0, false, 0, 1};
  for (const std::uint32_t n_threads : {1U, 3U}) {
    Machine stopped(p, threaded()), interrupted(p, threaded());
    int asked = 0;
    Hooks hooks;
    hooks.epoch = [&](std::int64_t, const EpochCounts&, const auto&) { return ++asked == 3; };
    FitResult result = fit(stopped, corpus.view(), corpus.labels.data(), 50, n_threads, hooks);
    require(result.reason == StopReason::callback && result.history.size() == 3, "callback");
    Hooks signal;
    signal.interrupted = [] { return true; };
    result = fit(interrupted, corpus.view(), corpus.labels.data(), 1000000, n_threads, signal);
    require(result.reason == StopReason::interrupted, "interrupt");
    check_votes(interrupted, corpus, "interrupted");
  }
  ++passed;
}

template <class Error, class Act>
bool throws(const Act& act) {
  try {
    act();
  } catch (const Error&) {
    return true;
  }
  return false;
}

// Without memory, wherever it ends and on whichever thread, a fit throws, and other threads do not
// wait for the one that failed. The last allocations are those of training itself.
void check_failures(const Corpus& corpus) {
  const Parameters p{2, 300, 60, 10, 25.0, false, 0, 1};
  constexpr std::int64_t kEnough = 1'000'000, kLast = 60;
  for (const std::uint32_t n_threads : {1U, 2U, 5U}) {
    const auto fails = [&](Machine& machine, std::int64_t allocations) {
      allocations_left = allocations;
      return throws<std::bad_alloc>(
          [&] { fit(machine, corpus.view(), corpus.labels.data(), 3, n_threads, {}); });
    };
    Machine complete(p, threaded());
    require(!fails(complete, kEnough), "fit with memory");
    const std::int64_t needed = kEnough - allocations_left.exchange(-1);
    int incomplete = 0;
    for (std::int64_t n = 0; n < needed;
         n = std::min(n + 1 + n / 10, std::max(n + 1, needed - kLast))) {
      Machine machine(p, threaded());
      const bool failed = fails(machine, n);
      allocations_left = -1;
      incomplete += throws<std::runtime_error>([&] { machine.clauses(1); });
      require(failed || n > 0, "fit without memory");
    }
    require(incomplete > 5, "failures in training");
  }
  Machine machine(p, threaded());
  Hooks hooks;
  hooks.epoch = [](std::int64_t, const EpochCounts&, const auto&) -> bool {
    throw std::length_error("hook");
  };
  require(throws<std::length_error>(
              [&] { fit(machine, corpus.view(), corpus.labels.data(), 9, 3, hooks); }),
          "exception of a hook");
  require(throws<std::runtime_error>(
              [&] { fit(machine, corpus.view(), corpus.labels.data(), 9, 3, {}); }),
          "fit of an incomplete machine");
  const std::vector<std::uint8_t> states(std::size_t{2} * 2 * 60 * 300, 100);
  machine.set_states(states.data());
  require(states_of(machine) == states, "states set after a failure");
  ++passed;
}

}  // namespace

// Threads that wait longer than they spin are woken, and none passes a barrier early.
void check_waiting() {
  Signal signal;
  std::thread sleeper([&] { require(signal.wait_while(0) == 1, "a thread that sleeps is woken"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  signal.add(1);
  sleeper.join();

  constexpr std::uint32_t kThreads = 3, kRounds = 400;
  Barrier barrier(kThreads);
  std::atomic<std::uint32_t> arrived{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        if ((round + t) % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
        ++arrived;
        barrier.wait();
        require(arrived >= kThreads * (round + 1), "no thread passes a barrier early");
        barrier.wait();
      }
    });
  for (std::thread& thread : threads) thread.join();

  Barrier abandoned(2);
  bool told = false;
  std::thread waiting([&] {
    try {
      abandoned.wait();
    } catch (const Barrier::Abandoned&) {
      told = true;
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  abandoned.abandon();
  waiting.join();
  require(told, "a thread that waits is told that another one has failed");
  ++passed;
}

int main() {
  const Corpus two = make_corpus(60, 300, 2), three = make_corpus(45, 130, 3);
  check_fits({2, 300, 60, 10, 25.0, false, 0, 1}, two, 8, "two classes", 0x2A0BDFDE0E6D5BAAULL);
  Execution changing = threaded();
  changing.change_teams = true;
  check_fits({2, 300, 60, 10, 25.0, false, 0, 1}, two, 8, "teams of changing size",
             0x2A0BDFDE0E6D5BAAULL, changing);
  check_fits({2, 300, 20, 10, 1.5, false, 0, 2}, two, 8, "small s", 0x9ED6DEC1BC495B92ULL);
  check_fits({2, 300, 20, 15, 4.0, true, 0, 3}, two, 8, "boosted", 0x721EF64DE1CAB239ULL);
  Execution remembering = threaded();
  remembering.quiet_share = 2;
  check_fits({2, 300, 20, 15, 4.0, false, 8, 4}, two, 8, "budget, answers remembered",
             0xE1E0CD3FC96407F9ULL, remembering);
  check_fits({3, 130, 40, 5, 8.0, false, 0, 5}, three, 12, "three classes, answers remembered",
             0x8EAACD0383330C2BULL, remembering);
  check_fits({2, 300, 20, 15, 4.0, false, 8, 4}, two, 8, "budget", 0x0B4D1CB623EFCEA9ULL);
  check_fits({3, 130, 40, 5, 8.0, false, 0, 5}, three, 12, "three classes", 0xBA6C2C14DDDED1E7ULL);
  check_fits({2, 300, 4, 1, 1.0, false, 0, 6}, two, 4, "s = 1", 0x6565E8E343A8FD74ULL);
  check_fits({2, 300, 20, 15, 1.15, false, 0, 8}, two, 8, "s near 1", 0x33EF4463260A8328ULL);
  Parameters options{5, 130, 20, 8, 4.0, true, 6, 10};
  options.focus = 4;
  options.weighted = true;
  const Corpus five = make_corpus(60, 130, 5);
  check_fits(options, five, 8, "focused and weighted", 0x7670540319044645ULL);
  check_fits(options, five, 8, "focused, teams of changing size", 0x7670540319044645ULL, changing);
  check_fits(options, five, 8, "focused, answers remembered", 0x87F985AD59C5CCA4ULL, remembering);
  options.negations = false;
  check_fits(options, five, 8, "plain words only, answers remembered", 0xB2DCFBA1FF95BEA5ULL,
             remembering);
  check_fits(options, five, 8, "plain words only", 0x9AF052E7F346B067ULL);
  check_long_fit(make_corpus(12, 70, 2), 0xDDA1FFA920E813ECULL);
  const Corpus many = make_corpus(150, 300, 2);
  Execution execution = threaded();
  execution.foreseen_blocks = 0;
  check_fits({2, 300, 60, 10, 25.0, false, 0, 9}, many, 4, "no line foreseen",
             0xDBED7D6C948DE6ACULL, execution);
  execution.foreseen_blocks = 5;
  check_fits({2, 300, 60, 10, 25.0, false, 0, 9}, many, 4, "all negated lines foreseen",
             0x75848BC88EDC39BDULL, execution);
  execution.quiet_share = 2;
  check_fits({2, 300, 60, 10, 25.0, false, 0, 9}, many, 4, "answers remembered",
             0xD944CC5565547C84ULL, execution);
  execution.change_teams = true;
  check_fits({2, 300, 60, 10, 25.0, false, 0, 9}, many, 4,
             "answers remembered by teams of changing size", 0xD944CC5565547C84ULL, execution);
  check_waiting();
  check_selection();
  check_team_size();
  check_ends(two);
  check_failures(two);
  std::printf("%d passed, 0 failed\n", passed);
  return 0;
}
