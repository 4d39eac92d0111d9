// The extension module newfound._core_test: the machine with a choice of instruction set, of
// foreseen lines and of when answers are remembered, and single decrements. For tests; it is not
// installed by default.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "decrement_law.hpp"
#include "kernels.hpp"
#include "machine.hpp"
#include "random.hpp"

using namespace newfound;
using newfound::python::PyMachine;
using newfound::python::to_numpy;

namespace {

// The kernels of that name, the best ones for an empty name.
const Kernels& kernels_named(const std::string& name) {
  const Kernels* found = name.empty() ? available_kernels()[0] : find_kernels(name.c_str());
  if (!found) throw std::invalid_argument("instruction set '" + name + "' is not available here");
  return *found;
}

// The law of a decrement by k trials, as its tables make it up.
nb::object decrement_law(std::uint32_t k, double s) {
  const DecrementLaw law(s);
  if (k > law.tables().max_step) throw std::invalid_argument("k is more than one draw");
  const BinomialTable& table = law.tables().binomial[k];
  std::vector<double> pmf(256, 0.0);
  double rest = 1.0;
  for (const ByteLaw& byte : table.byte) {
    std::uint32_t leftover = 0;
    for (const std::uint8_t d : byte.draw) {
      leftover += d == ByteLaw::kLeftover;
      if (d != ByteLaw::kLeftover) pmf[d] += rest / 256;
    }
    rest *= leftover / 256.0;
  }
  for (std::size_t i = 0; i < table.n_last; ++i)
    pmf[table.last_first + i] += rest * (table.last[i] - (i > 0 ? table.last[i - 1] : 0.0));
  return to_numpy(std::move(pmf), {256});
}

// n automata after k trials. `kind`: those of single lines ("line"), of one row by an event that
// raises none of them ("row"), or of foreseen lines ("foreseen").
nb::object decrement_sample(std::uint32_t k, double s, std::uint8_t state, std::size_t n,
                            std::uint64_t seed, const std::string& kind,
                            const std::string& instruction_set) {
  const bool row = kind == "row", foreseen = kind == "foreseen";
  const Kernels& kernels = kernels_named(instruction_set);
  if (row && k > kMostTrials) throw std::invalid_argument("k is more than a line counts");
  const DecrementLaw law(s);
  const std::size_t n_blocks = (n + kLine - 1) / kLine;
  std::vector<std::uint8_t> out(n_blocks * kLine, state);
  if (!row && !foreseen) {
    for (std::size_t i = 0; i < out.size(); i += kLine)
      kernels.settle(out.data() + i, k, law.tables(), mix64(seed, i));
  } else {
    std::vector<std::uint8_t> states(2 * out.size(), state);
    std::vector<std::uint16_t> seen(2 * n_blocks, 0);
    std::vector<std::uint64_t> masks(n_blocks, 0), included(2 * (n_blocks / 64 + 1), 0);
    std::vector<std::uint8_t> hits(out.size(), 0);
    std::vector<std::uint64_t> sure(n_blocks, 0);
    const RowView view{states.data(),
                       {seen.data(), seen.data() + n_blocks},
                       {included.data(), included.data() + n_blocks / 64 + 1},
                       masks.data(),
                       static_cast<std::uint32_t>(n_blocks),
                       foreseen ? static_cast<std::uint32_t>(n_blocks) : 0,
                       hits.data(),
                       sure.data()};
    if (foreseen) {
      for (std::uint32_t window = 0; window <= k / kWindow; ++window)
        kernels.foresee(view, law.tables(), mix64(seed, window));
      kernels.unforesee(view, k % kWindow);
    } else {
      const std::uint16_t now[2] = {static_cast<std::uint16_t>(k), static_cast<std::uint16_t>(k)};
      const std::vector<std::uint64_t> absent(n_blocks, 0);
      kernels.feedback(view, now, 0, absent.data(), nullptr, nullptr, false, false, true,
                       law.tables(), mix64(seed));
    }
    for (std::size_t b = 0; b < n_blocks; ++b)  // foreseen lines are negated ones
      std::copy_n(states.begin() + static_cast<std::ptrdiff_t>((2 * b + foreseen) * kLine), kLine,
                  out.begin() + static_cast<std::ptrdiff_t>(b * kLine));
  }
  out.resize(n);
  return to_numpy(std::move(out), {n});
}

}  // namespace

NB_MODULE(_core_test, m) {
  m.attr("HISTORY_COLUMNS") = newfound::python::history_columns();
  m.def("instruction_sets", [] {
    nb::list names;
    for (const Kernels* const* k = available_kernels(); *k; ++k) names.append((*k)->name);
    return nb::tuple(names);
  });
  m.def("decrement_law", &decrement_law, nb::arg("k"), nb::arg("s"));
  m.def("decrement_sample", &decrement_sample, nb::arg("k"), nb::arg("s"), nb::arg("state"),
        nb::arg("n"), nb::arg("seed"), nb::arg("kind") = "line", nb::arg("instruction_set") = "");
  nb::class_<PyMachine> machine(m, "Machine");
  machine.def(
      "__init__",
      [](PyMachine* self, std::uint32_t n_classes, std::uint32_t n_features,
         std::uint32_t n_clauses, std::uint32_t T, double s, bool boost_true_positive,
         std::uint32_t max_literals, std::uint64_t seed, const std::string& instruction_set,
         std::uint32_t foreseen_blocks, double quiet_share, std::uint32_t focus, bool weighted,
         bool negations) {
        new (self) PyMachine({n_classes, n_features, n_clauses, T, s, boost_true_positive,
                              max_literals, seed, focus, weighted, negations},
                             {&kernels_named(instruction_set), foreseen_blocks, quiet_share, 2});
      },
      nb::arg("n_classes"), nb::arg("n_features"), nb::arg("n_clauses"), nb::arg("T"), nb::arg("s"),
      nb::arg("boost_true_positive") = false, nb::arg("max_literals") = 0, nb::arg("seed") = 0,
      nb::arg("instruction_set") = "", nb::arg("foreseen_blocks") = Execution{}.foreseen_blocks,
      nb::arg("quiet_share") = Execution{}.quiet_share, nb::arg("focus") = 0,
      nb::arg("weighted") = false, nb::arg("negations") = true);
  newfound::python::bind_methods(machine);
}
