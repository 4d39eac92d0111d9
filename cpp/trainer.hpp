// Training: documents one after another, the clauses divided among threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "documents.hpp"
#include "machine.hpp"

namespace newfound {

struct EpochCounts {
  std::int64_t type_ia = 0, type_ib = 0, type_ii = 0, documents_at_target = 0;
};

enum class StopReason { epochs, converged, callback, interrupted };

struct Hooks {
  // After each epoch; true ends training. The last argument makes the machine that would be left
  // if training ended here. It may be called until the hook returns, by one thread at a time.
  std::function<bool(std::int64_t, const EpochCounts&, const std::function<Machine()>&)> epoch;
  // Several times a second; true ends training, after the present epoch if that takes not long.
  std::function<bool()> interrupted;
};

struct FitResult {
  std::vector<EpochCounts> history;
  StopReason reason = StopReason::epochs;
  bool partial_epoch = false;  // ended in the middle of an epoch, which is not in the history
};

// If it throws during training, such as for lack of memory, the machine is incomplete.
FitResult fit(Machine& machine, const CsrView& documents, const std::int32_t* labels,
              std::int64_t epochs, std::uint32_t n_threads, const Hooks& hooks);

}  // namespace newfound
