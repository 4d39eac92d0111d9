// The machine as a Python class, for the extension module and for the one that tests use.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "access.hpp"
#include "machine.hpp"
#include "rules.hpp"
#include "trainer.hpp"

namespace nb = nanobind;

namespace newfound::python {

inline const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::converged:
      return "converged";
    case StopReason::callback:
      return "callback";
    case StopReason::interrupted:
      return "interrupted";
    default:
      return "epochs";
  }
}

// A machine, with an index of its clauses that is made when first needed after a fit. In the
// callback of an epoch, all that is read is of a copy: the machine as the epoch has left it.
class PyMachine {
 public:
  explicit PyMachine(const Parameters& parameters, const Execution& execution = {})
      : machine_(check(parameters), execution) {}

  nb::tuple fit(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
                const Array1<std::int32_t>& y, std::int64_t epochs, std::uint32_t n_threads,
                nb::object callback, nb::object cancelled) {
    const Csr documents(indptr, indices, parameters().n_features);
    const std::vector<std::int32_t> labels = checked_labels(y, documents.rows());
    // What a signal handler or a callback raised. It is returned, so that the caller can first
    // record what was trained, and then raise it.
    nb::object raised = nb::none();
    const auto asked = [&](auto&& ask) {
      try {
        const int answer = PyObject_IsTrue(nb::object(ask()).ptr());
        if (answer < 0) nb::raise_python_error();
        return answer != 0;
      } catch (const nb::python_error& error) {
        raised = nb::borrow(error.value());
        return true;
      }
    };
    Hooks hooks;
    hooks.interrupted = [&] {
      nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() != 0) {
        raised = nb::borrow(nb::python_error().value());
        return true;
      }
      // Signals reach the main thread only; fits on other threads ask this.
      return !cancelled.is_none() && asked([&] { return cancelled(); });
    };
    if (!callback.is_none())
      hooks.epoch = [&](std::int64_t epoch, const EpochCounts& counts,
                        const std::function<Machine()>& finished_copy) {
        return access_.pause([&] { finished_copy_ = &finished_copy; },
                             [&] {
                               nb::gil_scoped_acquire gil;
                               return asked([&] { return callback(epoch, rows({counts})); });
                             },
                             [&] {
                               finished_copy_ = nullptr;
                               copy_.reset();
                               index_.reset();
                             });
      };
    FitResult result;
    {
      nb::gil_scoped_release release;
      const Access::Fit fit(access_, [&] { index_.reset(); });
      result = newfound::fit(machine_, documents.view(), labels.data(), epochs, n_threads, hooks);
    }
    return nb::make_tuple(rows(result.history), name_of(result.reason), result.partial_epoch,
                          raised);
  }

  nb::tuple clauses(std::uint32_t n_threads) {
    ClauseLists lists;
    {
      nb::gil_scoped_release release;
      const auto lock = access_.read();
      lists = readable().clauses(n_threads);
    }
    const std::size_t n = lists.begin.size(), m = lists.literals.size();
    return nb::make_tuple(to_numpy(std::move(lists.begin), {n}),
                          to_numpy(std::move(lists.literals), {m}));
  }

  nb::object votes(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
                   std::uint32_t n_threads) {
    const Csr documents(indptr, indices, parameters().n_features);
    const auto rows = static_cast<std::size_t>(documents.rows());
    std::vector<std::int32_t> out(rows * parameters().n_classes);
    {
      nb::gil_scoped_release release;
      const auto found = index(n_threads);
      found->rules.votes(documents.view(), found->votes.data(), parameters().n_classes, n_threads,
                         out.data());
    }
    return to_numpy(std::move(out), {rows, std::size_t{parameters().n_classes}});
  }

  nb::tuple support(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
                    const Array1<std::int32_t>& y, std::uint32_t n_threads) {
    const Csr documents(indptr, indices, parameters().n_features);
    return python::support(documents, checked_labels(y, documents.rows()), parameters().n_classes,
                           machine_.total_clauses(), n_threads, [&] { return rules(n_threads); });
  }

  nb::tuple matching(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
                     std::uint32_t n_threads) {
    const Csr documents(indptr, indices, parameters().n_features);
    return python::matching(documents, n_threads, [&] { return rules(n_threads); });
  }

  nb::object states() {
    std::vector<std::uint8_t> out(n_automata());
    {
      nb::gil_scoped_release release;
      const auto lock = access_.read();
      readable().copy_states(out.data());
    }
    const Parameters& p = parameters();
    return to_numpy(std::move(out), {p.n_classes, p.n_clauses, 2, p.n_features});
  }

  void set_states(
      const nb::ndarray<const std::uint8_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>& in) {
    const Parameters& p = parameters();
    if (in.shape(0) != p.n_classes || in.shape(1) != p.n_clauses || in.shape(2) != 2 ||
        in.shape(3) != p.n_features)
      throw std::invalid_argument(
          "states must have the shape (n_classes, n_clauses, 2, n_features)");
    nb::gil_scoped_release release;
    const auto lock = access_.write();
    machine_.set_states(in.data());
    index_.reset();
  }

  // With how many votes each clause votes.
  nb::object weights() {
    std::vector<std::uint32_t> out;
    {
      nb::gil_scoped_release release;
      const auto lock = access_.read();
      readable().check_complete();
      out = readable().weights();
    }
    const std::size_t n = out.size();
    return to_numpy(std::move(out), {n});
  }

  void set_weights(const Array1<std::uint32_t>& weights) {
    if (weights.shape(0) != machine_.total_clauses())
      throw std::invalid_argument("there must be one weight for each clause");
    std::vector<std::uint32_t> copy(weights.data(), weights.data() + weights.shape(0));
    for (const std::uint32_t weight : copy)
      if (weight < 1 || weight > kMostVotes)
        throw std::invalid_argument("weights must be from 1 to 2^30");
    nb::gil_scoped_release release;
    const auto lock = access_.write();
    machine_.set_weights(std::move(copy));
    index_.reset();
  }

  // Besides the states: what a continued fit depends on.
  nb::tuple counters() {
    std::vector<std::uint32_t> position;
    std::vector<std::uint64_t> draws;
    std::uint64_t epochs = 0;
    {
      nb::gil_scoped_release release;
      const auto lock = access_.read();
      const Machine& machine = readable();
      machine.check_complete();
      position = machine.position();
      draws = machine.all_draws();
      epochs = machine.epochs_seen();
    }
    const std::size_t n = position.size(), m = draws.size();
    return nb::make_tuple(to_numpy(std::move(position), {n}), to_numpy(std::move(draws), {m}),
                          epochs);
  }

  void set_counters(const Array1<std::uint32_t>& position, const Array1<std::uint64_t>& draws,
                    std::uint64_t epochs) {
    if (position.shape(0) != parameters().n_features || draws.shape(0) != machine_.total_clauses())
      throw std::invalid_argument(
          "position must have one entry for each feature, draws one for each clause");
    std::vector<std::uint32_t> copy(position.data(), position.data() + position.shape(0));
    std::vector<bool> seen(copy.size(), false);
    for (const std::uint32_t place : copy) {
      if (place >= seen.size() || seen[place])
        throw std::invalid_argument("position must be a permutation of the features");
      seen[place] = true;
    }
    nb::gil_scoped_release release;
    const auto lock = access_.write();
    machine_.set_position(std::move(copy));
    machine_.all_draws().assign(draws.data(), draws.data() + draws.shape(0));
    machine_.set_epochs_seen(epochs);
    index_.reset();
  }

 private:
  static Parameters check(Parameters p) {
    if (p.n_classes < 2) throw std::invalid_argument("n_classes must be at least 2");
    if (p.n_features < 1) throw std::invalid_argument("n_features must be at least 1");
    if (p.n_clauses < 2 || p.n_clauses % 2)
      throw std::invalid_argument("n_clauses must be even and at least 2");
    if (p.T < 1 || p.T > 1000000000U)
      throw std::invalid_argument("T must be between 1 and 1,000,000,000");
    // For larger s, the rounding of 1/s to 2^-32 would be more than one part in a million.
    if (!(p.s >= 1.0) || p.s > 8000.0) throw std::invalid_argument("s must be between 1 and 8000");
    if (static_cast<double>(p.n_classes) * p.n_clauses >= 4e9 || p.n_features > (1U << 24))
      throw std::invalid_argument("the machine is too large");
    if (p.focus > 16) throw std::invalid_argument("focus must be at most 16");
    return p;
  }

  const Parameters& parameters() const { return machine_.parameters(); }
  std::size_t n_automata() const {
    return static_cast<std::size_t>(machine_.total_clauses()) * 2 * parameters().n_features;
  }

  std::vector<std::int32_t> checked_labels(const Array1<std::int32_t>& y, std::int64_t rows) const {
    if (static_cast<std::int64_t>(y.shape(0)) != rows)
      throw std::invalid_argument("there must be one label for each document");
    std::vector<std::int32_t> labels(y.data(), y.data() + y.shape(0));
    for (const std::int32_t label : labels)
      if (label < 0 || static_cast<std::uint32_t>(label) >= parameters().n_classes)
        throw std::invalid_argument("labels must be class numbers");
    return labels;
  }

  // What readers see, under the lock of access_.read().
  const Machine& readable() {
    if (!finished_copy_) return machine_;
    if (!copy_) copy_ = std::make_unique<const Machine>((*finished_copy_)());
    return *copy_;
  }

  // The clauses, and with how many votes each votes.
  struct Index {
    RuleSet rules;
    std::vector<std::int32_t> votes;
  };

  // A shared pointer, so that a fit on another thread may drop the index while it is in use.
  std::shared_ptr<const Index> index(std::uint32_t n_threads) {
    const auto lock = access_.read();
    if (!index_) {
      const Machine& machine = readable();
      const ClauseLists lists = machine.clauses(n_threads);
      index_ = std::make_shared<const Index>(
          Index{{lists.begin, lists.literals, parameters().n_features, machine.position()},
                machine.signed_weights()});
    }
    return index_;
  }

  std::shared_ptr<const RuleSet> rules(std::uint32_t n_threads) {
    const auto found = index(n_threads);
    return {found, &found->rules};
  }

  static nb::object rows(const std::vector<EpochCounts>& history) {
    std::vector<std::int64_t> out;
    for (const EpochCounts& e : history)
      out.insert(out.end(), {e.type_ia, e.type_ib, e.type_ii, e.documents_at_target});
    return to_numpy(std::move(out), {history.size(), 4});
  }

  Machine machine_;
  std::shared_ptr<const Index> index_;
  // In the callback of an epoch: what makes the copy that readers see, and that copy once made.
  const std::function<Machine()>* finished_copy_ = nullptr;
  std::unique_ptr<const Machine> copy_;
  Access access_;
};

// Binds all methods but the constructor.
template <class Class>
void bind_methods(Class& machine) {
  machine
      .def("fit", &PyMachine::fit, nb::arg("indptr"), nb::arg("indices"), nb::arg("y"),
           nb::arg("epochs"), nb::arg("n_threads") = 1, nb::arg("callback").none() = nb::none(),
           nb::arg("cancelled").none() = nb::none())
      .def("clauses", &PyMachine::clauses, nb::arg("n_threads") = 1)
      .def("votes", &PyMachine::votes, nb::arg("indptr"), nb::arg("indices"),
           nb::arg("n_threads") = 1)
      .def("support", &PyMachine::support, nb::arg("indptr"), nb::arg("indices"), nb::arg("y"),
           nb::arg("n_threads") = 1)
      .def("matching", &PyMachine::matching, nb::arg("indptr"), nb::arg("indices"),
           nb::arg("n_threads") = 1)
      .def("states", &PyMachine::states)
      .def("set_states", &PyMachine::set_states, nb::arg("states"))
      .def("weights", &PyMachine::weights)
      .def("set_weights", &PyMachine::set_weights, nb::arg("weights"))
      .def("counters", &PyMachine::counters)
      .def("set_counters", &PyMachine::set_counters, nb::arg("position"), nb::arg("draws"),
           nb::arg("epochs"));
}

inline nb::tuple history_columns() {
  return nb::make_tuple("type_ia", "type_ib", "type_ii", "documents_at_target");
}

}  // namespace newfound::python
