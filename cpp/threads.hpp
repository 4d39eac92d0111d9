// Runs work on several threads and waits for all of them, whatever happens.
#pragma once

#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace newfound {

// Calls work(0) ... work(n - 1), each on a thread of its own as far as the system provides them,
// and throws the first exception once all have ended.
template <class Work>
void run_parallel(std::uint32_t n, const Work& work) {
  std::vector<std::exception_ptr> failed(n);
  const auto guarded = [&](std::uint32_t t) {
    try {
      work(t);
    } catch (...) {
      failed[t] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(n);
  std::uint32_t started = 1;
  try {
    for (; started < n; ++started) threads.emplace_back(guarded, started);
  } catch (const std::system_error&) {
    // No more threads available: this one does the rest.
  }
  if (n > 0) guarded(0);
  for (std::uint32_t t = started; t < n; ++t) guarded(t);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : failed)
    if (error) std::rethrow_exception(error);
}

}  // namespace newfound
