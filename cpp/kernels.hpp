// The vector work on lines of 64 automata, one implementation for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tables.hpp"

namespace newfound {

inline constexpr int kLine = 64;              // automata in a line: one cache line
inline constexpr std::uint8_t kInclude = 128;  // the lowest state that includes its literal

// What happened to a line since it was last looked at: `ib` decrement trials, then a Type Ia
// (`reinforce`) or Type II event that raises the automata in `up`.
struct Step {
  std::uint64_t up;
  std::uint32_t ib;
  bool reinforce;
};

struct Settled {
  std::uint64_t included;         // lanes
  std::uint8_t highest_excluded;  // state
};

struct Kernels {
  const char* name;

  // Brings a line up to date: every step, then `ib` more trials; lanes outside `valid` become 0.
  Settled (*settle)(std::uint8_t* line, const Step* steps, std::uint32_t n_steps, std::uint32_t ib,
                    std::uint64_t valid, bool boost, const DecrementLaw& law, std::uint64_t key);

  // One Type Ia event on a line whose true literals are `up`.
  void (*reinforce)(std::uint8_t* line, std::uint64_t up, bool boost, const DecrementLaw& law,
                    std::uint64_t key);

  // Draws which of the clauses [begin, end) get Type I feedback, each if hash32(key, clause) <=
  // limit. Those that do not match count one more Ib in `ib`; the ones whose count reaches `due`
  // are written to `out`. Returns how many were written; adds the number of Ib events to *events.
  std::size_t (*advance)(std::uint32_t* ib, const std::uint32_t* due, const std::uint8_t* matched,
                         std::uint32_t begin, std::uint32_t end, std::uint32_t limit,
                         std::uint64_t key, std::uint32_t* out, std::int64_t* events);

  Settled (*look)(const std::uint8_t* line);
};

// The kernels in use: the best that this processor runs, unless select_kernels() chose others.
const Kernels& kernels();
// "avx512", "avx2", "plain" or "auto"; false if this processor or build does not have it.
bool select_kernels(const char* name);
// Every set that runs here, best first, ended by a null pointer.
const Kernels* const* available_kernels();

}  // namespace newfound
