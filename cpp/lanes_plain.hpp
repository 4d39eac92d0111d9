// 64 lanes of 8 bits in portable C++; compilers vectorise these loops for what they target.
#pragma once

#include <cstdint>
#include <cstring>

#include "random.hpp"

namespace newfound::plain {

struct Mask {
  std::uint8_t lane[64];
  static Mask of(std::uint64_t bits) {
    Mask m;
    for (int i = 0; i < 64; ++i) m.lane[i] = static_cast<std::uint8_t>(-((bits >> i) & 1));
    return m;
  }
  bool any() const {
    std::uint64_t words[8], all = 0;
    std::memcpy(words, lane, 64);
    for (const std::uint64_t w : words) all |= w;
    return all != 0;
  }
};

struct Random {
  std::uint8_t byte[64];
  Random(std::uint64_t key, std::uint32_t index) {
    std::uint32_t x[16];
    for (std::uint32_t i = 0; i < 16; ++i) x[i] = hash32(key, index * 16 + i);
    for (int i = 0; i < 16; ++i)
      for (int b = 0; b < 4; ++b) byte[4 * i + b] = static_cast<std::uint8_t>(x[i] >> (8 * b));
  }
  std::uint32_t half(int i) const {
    return byte[2 * i] | (static_cast<std::uint32_t>(byte[2 * i + 1]) << 8);
  }
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
};

struct Count {
  std::uint8_t lane[64];
};

// 64 uniforms of 16 bits: lanes 0..31 from the first vector, 32..63 from the second.
struct Random16 {
  std::uint16_t value[64];
  Random16(std::uint64_t key, std::uint32_t index) {
    const Random a(key, index), b(key, index + 1);
    for (int i = 0; i < 32; ++i) {
      value[i] = static_cast<std::uint16_t>(a.half(i));
      value[32 + i] = static_cast<std::uint16_t>(b.half(i));
    }
  }
  // How many of the first n edges lie below each lane's value.
  Count count(const std::uint16_t* edge, std::uint32_t n) const {
    std::uint16_t found[64] = {};
    for (std::uint32_t e = 0; e < n; ++e)
      for (int i = 0; i < 64; ++i)
        found[i] = static_cast<std::uint16_t>(found[i] + (value[i] > edge[e]));
    Count c;
    for (int i = 0; i < 64; ++i) c.lane[i] = static_cast<std::uint8_t>(found[i]);
    return c;
  }
  std::uint64_t below(std::uint16_t t) const {
    std::uint64_t b = 0;
    for (int i = 0; i < 64; ++i) b |= static_cast<std::uint64_t>(value[i] < t) << i;
    return b;
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
  void store(std::uint8_t* p) const { std::memcpy(p, lane, 64); }
  void lower_by(const Count& c, std::uint8_t more) {
    for (int i = 0; i < 64; ++i) {
      const int by = c.lane[i] + more;
      lane[i] = static_cast<std::uint8_t>(lane[i] > by ? lane[i] - by : 0);
    }
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
  std::uint64_t included() const {
    std::uint64_t b = 0;
    for (int i = 0; i < 64; ++i) b |= static_cast<std::uint64_t>(lane[i] >> 7) << i;
    return b;
  }
  void restore(const Lanes& old, const Mask& m) {
    for (int i = 0; i < 64; ++i) lane[i] = m.lane[i] ? old.lane[i] : lane[i];
  }
  std::uint64_t below(std::uint8_t t) const {
    std::uint64_t b = 0;
    for (int i = 0; i < 64; ++i) b |= static_cast<std::uint64_t>(lane[i] < t) << i;
    return b;
  }
  bool at_least(std::uint8_t t) const {
    std::uint8_t any = 0;
    for (int i = 0; i < 64; ++i) any |= static_cast<std::uint8_t>(lane[i] >= t);
    return any != 0;
  }
};

static inline std::uint32_t advance16(std::uint32_t* ib, const std::uint32_t* due,
                                      const std::uint8_t* matched, std::uint32_t first,
                                      std::uint32_t n, std::uint32_t limit, std::uint64_t key,
                                      std::uint32_t* reached) {
  std::uint32_t selected = 0, reach = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t hit = (hash32(key, first + i) <= limit) & (matched[i] == 0);
    ib[i] += hit;
    selected |= hit << i;
    reach |= (hit & (ib[i] >= due[i])) << i;
  }
  *reached = reach;
  return selected;
}

}  // namespace newfound::plain
