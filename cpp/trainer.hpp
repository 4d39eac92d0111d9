// Training: documents one after another, clauses shared out among threads.
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
  // After each epoch; true ends training.
  std::function<bool(std::int64_t, const EpochCounts&)> epoch;
  // Several times a second; true asks for an end, which comes with the epoch if that is near.
  std::function<bool()> interrupted;
};

struct FitResult {
  std::vector<EpochCounts> history;
  StopReason reason = StopReason::epochs;
  bool partial_epoch = false;  // interrupted in the middle of an epoch too long to finish
};

FitResult fit(Machine& machine, const CsrView& documents, const std::int32_t* labels,
              std::int64_t epochs, std::uint32_t n_threads, const Hooks& hooks);

}  // namespace newfound
