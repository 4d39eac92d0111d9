// The extension module newfound._core.
#include "arithmetic.hpp"
#include "kernels.hpp"
#include "machine.hpp"
#include "text_scorer.hpp"

using namespace newfound;
using newfound::python::PyMachine;

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // what lives until the interpreter ends is no leak
  m.attr("HISTORY_COLUMNS") = newfound::python::history_columns();
  m.attr("INSTRUCTION_SET") = available_kernels()[0]->name;
  nb::class_<PyMachine> machine(m, "Machine");
  machine.def(
      "__init__",
      [](PyMachine* self, std::uint32_t n_classes, std::uint32_t n_features,
         std::uint32_t n_clauses, std::uint32_t T, double s, bool boost_true_positive,
         std::uint32_t max_literals, std::uint64_t seed, std::uint32_t focus, bool weighted,
         bool negations) {
        new (self) PyMachine({n_classes, n_features, n_clauses, T, s, boost_true_positive,
                              max_literals, seed, focus, weighted, negations});
      },
      nb::arg("n_classes"), nb::arg("n_features"), nb::arg("n_clauses"), nb::arg("T"), nb::arg("s"),
      nb::arg("boost_true_positive") = false, nb::arg("max_literals") = 0, nb::arg("seed") = 0,
      nb::arg("focus") = 0, nb::arg("weighted") = false, nb::arg("negations") = true);
  newfound::python::bind_methods(machine);
  newfound::python::bind_text_scorer(m);
  newfound::python::bind_arithmetic(m);
}
