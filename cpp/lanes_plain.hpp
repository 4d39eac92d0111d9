// 64 lanes of 8 bits in portable C++; compilers vectorise these loops for what they target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "decrement_tables.hpp"
#include "random.hpp"
#include "select_ib16.hpp"

namespace newfound::plain {

// Numbers that are added up side by side: products are rounded before they are added.
struct Doubles {
  static constexpr std::size_t kSize = 2;
  double a, b;
  static Doubles load(const double* p) { return {p[0], p[1]}; }
  void store(double* p) const {
    p[0] = a;
    p[1] = b;
  }
  void add(double weight, const double* p) {
    a += weight * p[0];
    b += weight * p[1];
  }
};

struct Mask {
  std::uint8_t lane[64];
  static Mask of(std::uint64_t bits) {
    Mask m;
    for (int i = 0; i < 64; ++i) m.lane[i] = static_cast<std::uint8_t>(-((bits >> i) & 1));
    return m;
  }
  std::uint64_t bits() const {
    std::uint64_t b = 0;
    for (int i = 0; i < 64; ++i) b |= static_cast<std::uint64_t>(lane[i] & 1) << i;
    return b;
  }
  bool any() const {
    std::uint64_t words[8], all = 0;
    std::memcpy(words, lane, 64);
    for (const std::uint64_t w : words) all |= w;
    return all != 0;
  }
};

inline Mask operator&(const Mask& a, const Mask& b) {
  Mask m;
  for (int i = 0; i < 64; ++i) m.lane[i] = a.lane[i] & b.lane[i];
  return m;
}
inline Mask operator|(const Mask& a, const Mask& b) {
  Mask m;
  for (int i = 0; i < 64; ++i) m.lane[i] = a.lane[i] | b.lane[i];
  return m;
}
inline Mask without(const Mask& a, const Mask& b) {
  Mask m;
  for (int i = 0; i < 64; ++i) m.lane[i] = a.lane[i] & static_cast<std::uint8_t>(~b.lane[i]);
  return m;
}

struct Lanes {
  std::uint8_t lane[64];
  static Lanes load(const std::uint8_t* p) {
    Lanes x;
    std::memcpy(x.lane, p, 64);
    return x;
  }
  static Lanes all(std::uint8_t x) {
    Lanes lanes;
    std::memset(lanes.lane, x, 64);
    return lanes;
  }
  void store(std::uint8_t* p) const { std::memcpy(p, lane, 64); }
  void unite(const Lanes& other) {
    for (int i = 0; i < 64; ++i) lane[i] |= other.lane[i];
  }
  void intersect(const Lanes& other) {
    for (int i = 0; i < 64; ++i) lane[i] &= other.lane[i];
  }
  Lanes count_ones() const {
    Lanes x;
    for (int i = 0; i < 64; ++i) x.lane[i] = static_cast<std::uint8_t>(count_bits(lane[i]));
    return x;
  }
  void lower_by(const Lanes& d) {
    for (int i = 0; i < 64; ++i)
      lane[i] = static_cast<std::uint8_t>(lane[i] > d.lane[i] ? lane[i] - d.lane[i] : 0);
  }
  Mask positive() const {
    Mask m;
    for (int i = 0; i < 64; ++i) m.lane[i] = lane[i] > 0 ? 0xFF : 0;
    return m;
  }
  void keep(const Mask& m) {
    for (int i = 0; i < 64; ++i) lane[i] &= m.lane[i];
  }
  void replace(const Mask& m, const Lanes& by) {
    for (int i = 0; i < 64; ++i)
      lane[i] = static_cast<std::uint8_t>((lane[i] & ~m.lane[i]) | (by.lane[i] & m.lane[i]));
  }
  void lower(const Mask& m) {
    for (int i = 0; i < 64; ++i)
      lane[i] = static_cast<std::uint8_t>(lane[i] - (m.lane[i] & (lane[i] > 0 ? 1 : 0)));
  }
  void raise(const Mask& m) {
    for (int i = 0; i < 64; ++i)
      lane[i] = static_cast<std::uint8_t>(lane[i] + (m.lane[i] & (lane[i] < 255 ? 1 : 0)));
  }
  bool zero() const {
    std::uint64_t words[8], all = 0;
    std::memcpy(words, lane, 64);
    for (const std::uint64_t w : words) all |= w;
    return all == 0;
  }
  Mask included() const {
    Mask m;
    for (int i = 0; i < 64; ++i) m.lane[i] = lane[i] >= 128 ? 0xFF : 0;
    return m;
  }
  bool at_least(std::uint8_t t) const {
    std::uint8_t any = 0;
    for (int i = 0; i < 64; ++i) any |= static_cast<std::uint8_t>(lane[i] >= t);
    return any != 0;
  }
};

struct Bytes {
  std::uint8_t byte[64];
  Mask below(std::uint8_t t) const {
    Mask m;
    for (int i = 0; i < 64; ++i) m.lane[i] = byte[i] < t ? 0xFF : 0;
    return m;
  }
  Mask equal(std::uint8_t t) const {
    Mask m;
    for (int i = 0; i < 64; ++i) m.lane[i] = byte[i] == t ? 0xFF : 0;
    return m;
  }
  Lanes look_up(const ByteLaw& law) const {
    Lanes x;
    for (int i = 0; i < 64; ++i) x.lane[i] = law.draw[byte[i]];
    return x;
  }
};

// Random bytes: 64 at each index.
class Stream {
 public:
  explicit Stream(std::uint64_t key) : key_(key) {}
  std::uint64_t key() const { return key_; }
  Bytes at(std::uint32_t index) const {
    std::uint32_t x[16];
    for (std::uint32_t i = 0; i < 16; ++i) x[i] = hash32(key_, index * 16 + i);
    Bytes u;
    for (int i = 0; i < 16; ++i)
      for (int b = 0; b < 4; ++b) u.byte[4 * i + b] = static_cast<std::uint8_t>(x[i] >> (8 * b));
    return u;
  }

 private:
  std::uint64_t key_;
};

inline std::uint32_t select_ib16(std::uint32_t* ib, const std::uint32_t* due,
                                 const std::uint8_t* matched, std::uint32_t first, std::uint32_t n,
                                 std::uint32_t limit, std::uint64_t key, std::uint32_t* reached) {
  return select_ib16_portable(ib, due, matched, first, n, limit, key, reached);
}

}  // namespace newfound::plain
