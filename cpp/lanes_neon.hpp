// 64 lanes of 8 bits in four NEON registers, which every 64-bit Arm processor has.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "decrement_tables.hpp"
#include "random.hpp"
#include "select_ib16.hpp"

namespace newfound::neon {

// Numbers that are added up side by side: products are rounded before they are added.
struct Doubles {
  static constexpr std::size_t kSize = 2;
  float64x2_t v;
  static Doubles load(const double* p) { return {vld1q_f64(p)}; }
  void store(double* p) const { vst1q_f64(p, v); }
  void add(double weight, const double* p) {
    v = vaddq_f64(v, vmulq_f64(vdupq_n_f64(weight), vld1q_f64(p)));
  }
};

// Named members, not an array: compilers keep them in registers.
struct Quad {
  uint8x16_t a, b, c, d;
};
template <class Operation, class... Quads>
inline Quad each(Operation operation, const Quads&... x) {
  return {operation(x.a...), operation(x.b...), operation(x.c...), operation(x.d...)};
}
inline uint8x16_t united(const Quad& x) { return vorrq_u8(vorrq_u8(x.a, x.b), vorrq_u8(x.c, x.d)); }
inline bool any_bit(uint8x16_t x) { return vmaxvq_u32(vreinterpretq_u32_u8(x)) != 0; }
inline uint8x16_t bit_of_lane() { return vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ULL)); }

struct Mask {
  Quad q;
  static Mask of(std::uint64_t bits) {
    const uint8x16_t all = vreinterpretq_u8_u64(vdupq_n_u64(bits)), bit = bit_of_lane();
    const uint8x16_t first = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
    const auto spread = [&](std::uint8_t from) {
      return vtstq_u8(vqtbl1q_u8(all, vaddq_u8(first, vdupq_n_u8(from))), bit);
    };
    return {{spread(0), spread(2), spread(4), spread(6)}};
  }
  std::uint64_t bits() const {
    const uint8x16_t bit = bit_of_lane();
    const Quad x = each([&](uint8x16_t m) { return vandq_u8(m, bit); }, q);
    // Sums of neighbours, three times: each byte gets the bits of eight lanes.
    const uint8x16_t pairs = vpaddq_u8(vpaddq_u8(x.a, x.b), vpaddq_u8(x.c, x.d));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)), 0);
  }
  bool any() const { return any_bit(united(q)); }
};
inline Mask operator&(const Mask& x, const Mask& y) {
  return {each([](uint8x16_t m, uint8x16_t n) { return vandq_u8(m, n); }, x.q, y.q)};
}
inline Mask operator|(const Mask& x, const Mask& y) {
  return {each([](uint8x16_t m, uint8x16_t n) { return vorrq_u8(m, n); }, x.q, y.q)};
}
inline Mask without(const Mask& x, const Mask& y) {
  return {each([](uint8x16_t m, uint8x16_t n) { return vbicq_u8(m, n); }, x.q, y.q)};
}

struct Lanes {
  Quad q;
  static Lanes load(const std::uint8_t* p) {
    return {{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
  }
  static Lanes all(std::uint8_t x) {
    const uint8x16_t v = vdupq_n_u8(x);
    return {{v, v, v, v}};
  }
  void store(std::uint8_t* p) const {
    vst1q_u8(p, q.a);
    vst1q_u8(p + 16, q.b);
    vst1q_u8(p + 32, q.c);
    vst1q_u8(p + 48, q.d);
  }
  void unite(const Lanes& other) {
    q = each([](uint8x16_t x, uint8x16_t y) { return vorrq_u8(x, y); }, q, other.q);
  }
  void intersect(const Lanes& other) {
    q = each([](uint8x16_t x, uint8x16_t y) { return vandq_u8(x, y); }, q, other.q);
  }
  Lanes count_ones() const {
    return {each([](uint8x16_t x) { return vcntq_u8(x); }, q)};
  }
  void lower_by(const Lanes& d) {
    q = each([](uint8x16_t x, uint8x16_t y) { return vqsubq_u8(x, y); }, q, d.q);
  }
  Mask positive() const {
    return {each([](uint8x16_t x) { return vtstq_u8(x, x); }, q)};
  }
  void keep(const Mask& m) {
    q = each([](uint8x16_t x, uint8x16_t y) { return vandq_u8(x, y); }, q, m.q);
  }
  void replace(const Mask& m, const Lanes& by) {
    q = each([](uint8x16_t x, uint8x16_t y, uint8x16_t z) { return vbslq_u8(y, z, x); }, q, m.q,
             by.q);
  }
  // A mask, shifted by seven bits, is 1 or 0.
  void lower(const Mask& m) {
    q = each([](uint8x16_t x, uint8x16_t y) { return vqsubq_u8(x, vshrq_n_u8(y, 7)); }, q, m.q);
  }
  void raise(const Mask& m) {
    q = each([](uint8x16_t x, uint8x16_t y) { return vqaddq_u8(x, vshrq_n_u8(y, 7)); }, q, m.q);
  }
  bool zero() const { return !any_bit(united(q)); }
  Mask included() const {
    return {each([](uint8x16_t x) { return vcltzq_s8(vreinterpretq_s8_u8(x)); }, q)};
  }
  bool at_least(std::uint8_t t) const {
    return vmaxvq_u8(vmaxq_u8(vmaxq_u8(q.a, q.b), vmaxq_u8(q.c, q.d))) >= t;
  }
};

struct Bytes {
  Quad q;
  Mask below(std::uint8_t t) const {
    const uint8x16_t v = vdupq_n_u8(t);
    return {each([&](uint8x16_t x) { return vcltq_u8(x, v); }, q)};
  }
  Mask equal(std::uint8_t t) const {
    const uint8x16_t v = vdupq_n_u8(t);
    return {each([&](uint8x16_t x) { return vceqq_u8(x, v); }, q)};
  }
  Lanes look_up(const ByteLaw& law) const {
    const uint8x16_t above = vld1q_u8(law.above), main = vld1q_u8(law.main),
                     other = vld1q_u8(law.other);
    return {each(
        [&](uint8x16_t u) {
          const uint8x16_t at = vandq_u8(u, vdupq_n_u8(15));
          return vbslq_u8(vcgtq_u8(u, vqtbl1q_u8(above, at)), vqtbl1q_u8(other, at),
                          vqtbl1q_u8(main, at));
        },
        q)};
  }
};

// Random bytes: 64 at each index.
class Stream {
 public:
  explicit Stream(std::uint64_t key)
      : key_(key), high_(vdupq_n_u32(static_cast<std::uint32_t>(key >> 32))) {
    const uint32x4_t lane = vcombine_u32(vcreate_u32(1ULL << 32), vcreate_u32(3ULL << 32 | 2));
    low_ = vmlaq_n_u32(vdupq_n_u32(static_cast<std::uint32_t>(key)), lane, kGolden32);
  }
  std::uint64_t key() const { return key_; }
  Bytes at(std::uint32_t index) const {
    const auto bytes = [&](std::uint32_t from) {
      return vreinterpretq_u8_u32(words(index * 16 + from));
    };
    return {{bytes(0), bytes(4), bytes(8), bytes(12)}};
  }
  // The values at a position and the 3 that follow it.
  uint32x4_t words(std::uint32_t position) const {
    uint32x4_t x = vaddq_u32(low_, vdupq_n_u32(position * kGolden32));
    x = veorq_u32(x, vshrq_n_u32(x, 16));
    x = vmulq_u32(x, vdupq_n_u32(kHashMul1));
    x = veorq_u32(x, high_);
    x = veorq_u32(x, vshrq_n_u32(x, 15));
    x = vmulq_u32(x, vdupq_n_u32(kHashMul2));
    return veorq_u32(x, vshrq_n_u32(x, 16));
  }

 private:
  std::uint64_t key_;
  uint32x4_t low_, high_;
};

inline std::uint32_t select_ib16(std::uint32_t* ib, const std::uint32_t* due,
                                 const std::uint8_t* matched, std::uint32_t first, std::uint32_t n,
                                 std::uint32_t limit, std::uint64_t key, std::uint32_t* reached) {
  if (n < 16) return select_ib16_portable(ib, due, matched, first, n, limit, key, reached);
  const Stream stream(key);
  const uint32x4_t top = vdupq_n_u32(limit);
  const uint32x4_t bit = vcombine_u32(vcreate_u32(2ULL << 32 | 1), vcreate_u32(8ULL << 32 | 4));
  // Signed, so that a mask of 8 bits becomes one of 32.
  const int8x16_t none = vreinterpretq_s8_u8(vceqzq_u8(vld1q_u8(matched)));
  const int16x8_t half[2] = {vmovl_s8(vget_low_s8(none)), vmovl_high_s8(none)};
  uint32x4_t selected = vdupq_n_u32(0), ripe = vdupq_n_u32(0);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const int16x8_t h = half[i >> 1];
    const uint32x4_t idle =
        vreinterpretq_u32_s32(i & 1 ? vmovl_high_s16(h) : vmovl_s16(vget_low_s16(h)));
    const uint32x4_t sel = vandq_u32(vcleq_u32(stream.words(first + 4 * i), top), idle);
    const uint32x4_t now = vsubq_u32(vld1q_u32(ib + 4 * i), sel);
    vst1q_u32(ib + 4 * i, now);
    const uint32x4_t due_now = vandq_u32(sel, vcgeq_u32(now, vld1q_u32(due + 4 * i)));
    const uint32x4_t place = vshlq_u32(bit, vdupq_n_s32(static_cast<int>(4 * i)));
    selected = vorrq_u32(selected, vandq_u32(sel, place));
    ripe = vorrq_u32(ripe, vandq_u32(due_now, place));
  }
  *reached = vaddvq_u32(ripe);
  return vaddvq_u32(selected);
}

}  // namespace newfound::neon
