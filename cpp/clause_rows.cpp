#include "clause_rows.hpp"

#include <algorithm>

namespace newfound {

ClauseRows::ClauseRows(Machine& machine, std::uint32_t n_foreseen)
    : machine_(machine),
      kernels_(*machine.execution().kernels),
      law_(machine.parameters().s),
      boost_(machine.parameters().boost_true_positive),
      n_groups_((machine.n_blocks() + 63) / 64),
      n_foreseen_(machine.parameters().negations ? std::min(machine.n_blocks(), n_foreseen) : 0) {
  const std::size_t n = machine.total_clauses();
  ib_.assign(n, 0);
  counts_.resize(n);
  seen_.assign(n * machine.n_lines(), 0);
  included_.assign(n * 2 * n_groups_, 0);
  foreseen_until_.assign(n, kNone);
  hits_.assign(n * n_foreseen_ * kLine, 0);
  sure_.assign(n * n_foreseen_, 0);
  negated_.assign(n * machine.n_blocks(), 0);
}

ClauseRows::ClauseRows(const ClauseRows& other, Machine& copy)
    : ClauseRows(copy, other.n_foreseen_) {
  ib_ = other.ib_;
  counts_ = other.counts_;
  seen_ = other.seen_;
  included_ = other.included_;
  foreseen_until_ = other.foreseen_until_;
  hits_ = other.hits_;
}

void ClauseRows::begin(std::uint32_t c) {
  counts_[c].seed = mix64(machine_.parameters().seed, c);
  if (machine_.fresh()) {
    machine_.fill(c);
    return;
  }
  for (std::uint32_t line = 0; line < machine_.n_lines(); ++line) update_included(c, line);
}

void ClauseRows::record_included(std::uint32_t c, std::uint32_t line, std::uint64_t lanes) {
  const std::uint32_t block = line >> 1;
  const std::size_t n = machine_.n_blocks();
  if (line & 1) negated_[static_cast<std::size_t>(c) * n + block] = lanes;
  std::uint64_t& blocks =
      included_[(static_cast<std::size_t>(c) * 2 + (line & 1)) * n_groups_ + (block >> 6)];
  const std::uint64_t bit = 1ULL << (block & 63);
  blocks = lanes ? blocks | bit : blocks & ~bit;
}

void ClauseRows::update_included(std::uint32_t c, std::uint32_t line) {
  record_included(c, line, kernels_.included(line_of(c, line)));
}

void ClauseRows::foresee(std::uint32_t c) {
  if (!foreseen(c))
    for (std::uint32_t block = 0; block < n_foreseen_; ++block) settle_line(c, 2 * block + 1);
  foreseen_until_[c] = ib_[c] + kWindow;
  kernels_.foresee(view(c), law_.tables(), next_key(c));
}

void ClauseRows::unforesee(std::uint32_t c) {
  if (!foreseen(c)) return;
  if (trials_of(c, false) > kMostTrials) settle_row(c);
  kernels_.unforesee(view(c), elapsed(c));
  for (std::uint32_t block = 0; block < n_foreseen_; ++block)
    seen(c, 2 * block + 1) = static_cast<std::uint16_t>(trials_of(c, true));
  foreseen_until_[c] = kNone;
}

std::uint64_t ClauseRows::settle_line(std::uint32_t c, std::uint32_t line) {
  if (foreseen(c, line))
    return kernels_.included_after(
        line_of(c, line), &hits_[(std::size_t{c} * n_foreseen_ + line / 2) * kLine], elapsed(c));
  if (trials_of(c, false) > kMostTrials) settle_row(c);
  const std::uint32_t now = trials_of(c, line & 1);
  const std::uint32_t trials = now - seen(c, line);
  if (trials == 0) {
    const std::uint32_t block = line >> 1;
    if (!(included_blocks(c, line & 1)[block >> 6] >> (block & 63) & 1)) return 0;
    return line & 1 ? negated_words(c)[block] : kernels_.included(line_of(c, line));
  }
  seen(c, line) = static_cast<std::uint16_t>(now);
  const std::uint64_t lanes = kernels_.settle(line_of(c, line), trials, law_.tables(), next_key(c));
  record_included(c, line, lanes);
  return lanes;
}

void ClauseRows::finish(std::uint32_t c) {
  unforesee(c);
  settle_row(c);
}

void ClauseRows::settle_row(std::uint32_t c) {
  for (std::uint32_t line = 0; line < machine_.n_lines(); ++line) {
    if (foreseen(c, line)) continue;
    const std::uint32_t trials = trials_of(c, line & 1) - seen(c, line);
    if (trials > 0)
      record_included(c, line,
                      kernels_.settle(line_of(c, line), trials, law_.tables(), next_key(c)));
    seen(c, line) = 0;
  }
  counts_[c].base_ib = ib_[c];
  counts_[c].ia = 0;
}

RowView ClauseRows::view(std::uint32_t c) {
  const std::size_t row = c, n_blocks = machine_.n_blocks();
  std::uint64_t* included = &included_[row * 2 * n_groups_];
  return {machine_.row(c),
          {&seen(c, 0), &seen(c, 1)},
          {included, included + n_groups_},
          &negated_[row * n_blocks],
          machine_.n_blocks(),
          foreseen(c) ? n_foreseen_ : 0,
          hits_.data() + row * n_foreseen_ * kLine,
          sure_.data() + row * n_foreseen_};
}

void ClauseRows::feedback(std::uint32_t c, const OpenDocument& document, bool type_ia) {
  if (trials_of(c, false) > kMostTrials) settle_row(c);
  const std::uint16_t now[2] = {static_cast<std::uint16_t>(trials_of(c, false)),
                                static_cast<std::uint16_t>(trials_of(c, true))};
  kernels_.feedback(view(c), now, elapsed(c), document.absent(), document.blocks_begin(),
                    document.blocks_end(), type_ia, boost_, machine_.parameters().negations,
                    law_.tables(), next_key(c));
  counts_[c].ia += type_ia;
  if (type_ia && !boost_ && foreseen(c)) --foreseen_until_[c];
}

std::uint8_t ClauseRows::take_out(std::uint32_t c, std::uint32_t literal) {
  const std::uint8_t state = machine_.row(c)[literal];
  clear(c, literal);
  return state;
}

void ClauseRows::put_back(std::uint32_t c, std::uint32_t literal, std::uint8_t state) {
  const std::uint32_t line = literal / kLine;
  if (seen(c, line) != trials_of(c, line & 1)) settle_line(c, line);
  machine_.row(c)[literal] = state;
  if (state >= kInclude) update_included(c, line);
}

void ClauseRows::prefetch_row(std::uint32_t c, bool type_ia) const {
  constexpr std::uint32_t kLines = 24;  // further lines are fetched by the event itself
  prefetch(&counts_[c]);
  prefetch(included_blocks(c, type_ia));
  const std::uint8_t* row = static_cast<const Machine&>(machine_).row(c);
  const std::uint32_t n = std::min(kLines, machine_.n_blocks());
  for (std::uint32_t b = 0; b < n; ++b) prefetch(row + (std::size_t{2} * b + type_ia) * kLine);
  for (std::uint32_t b = 0; b < machine_.n_blocks(); b += 32)
    prefetch(&seen_[seen_at(c, 2 * b + type_ia)]);
}

}  // namespace newfound
