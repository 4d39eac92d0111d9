// 64 lanes of 8 bits in one AVX-512 register (F, BW, DQ, VL).
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "decrement_tables.hpp"
#include "random.hpp"

namespace newfound::avx512 {

// Numbers that are added up side by side: products are rounded before they are added.
struct Doubles {
  static constexpr std::size_t kSize = 8;
  __m512d v;
  static Doubles load(const double* p) { return {_mm512_loadu_pd(p)}; }
  void store(double* p) const { _mm512_storeu_pd(p, v); }
  void add(double weight, const double* p) {
    v = _mm512_add_pd(v, _mm512_mul_pd(_mm512_set1_pd(weight), _mm512_loadu_pd(p)));
  }
};

struct Mask {
  __mmask64 m;
  static Mask of(std::uint64_t bits) { return {bits}; }
  std::uint64_t bits() const { return m; }
  bool any() const { return m != 0; }
};
inline Mask operator&(Mask x, Mask y) { return {x.m & y.m}; }
inline Mask operator|(Mask x, Mask y) { return {x.m | y.m}; }
inline Mask without(Mask x, Mask y) { return {x.m & ~y.m}; }

struct Lanes {
  __m512i v;
  static Lanes load(const std::uint8_t* p) { return {_mm512_loadu_si512(p)}; }
  static Lanes all(std::uint8_t x) { return {_mm512_set1_epi8(static_cast<char>(x))}; }
  void store(std::uint8_t* p) const { _mm512_storeu_si512(p, v); }
  void unite(Lanes other) { v = _mm512_or_si512(v, other.v); }
  void intersect(Lanes other) { v = _mm512_and_si512(v, other.v); }
  Lanes count_ones() const {
    const __m512i ones =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i low = _mm512_set1_epi8(15);
    return {
        _mm512_add_epi8(_mm512_shuffle_epi8(ones, _mm512_and_si512(v, low)),
                        _mm512_shuffle_epi8(ones, _mm512_and_si512(_mm512_srli_epi16(v, 4), low)))};
  }
  void lower_by(Lanes d) { v = _mm512_subs_epu8(v, d.v); }
  Mask positive() const { return {_mm512_test_epi8_mask(v, v)}; }
  void keep(Mask m) { v = _mm512_maskz_mov_epi8(m.m, v); }
  void replace(Mask m, Lanes by) { v = _mm512_mask_mov_epi8(v, m.m, by.v); }
  void lower(Mask m) { v = _mm512_mask_subs_epu8(v, m.m, v, _mm512_set1_epi8(1)); }
  void raise(Mask m) { v = _mm512_mask_adds_epu8(v, m.m, v, _mm512_set1_epi8(1)); }
  bool zero() const { return _mm512_test_epi64_mask(v, v) == 0; }
  Mask included() const { return {_mm512_movepi8_mask(v)}; }
  bool at_least(std::uint8_t t) const {
    return _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8(static_cast<char>(t))) != 0;
  }
};

struct Bytes {
  __m512i v;
  Mask below(std::uint8_t t) const {
    return {_mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(static_cast<char>(t)))};
  }
  Mask equal(std::uint8_t t) const {
    return {_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(static_cast<char>(t)))};
  }
  Lanes look_up(const ByteLaw& law) const {
    const auto table = [](const std::uint8_t* p) {
      return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    };
    const __m512i b = _mm512_and_si512(v, _mm512_set1_epi8(15));
    const __mmask64 m = _mm512_cmpgt_epu8_mask(v, _mm512_shuffle_epi8(table(law.above), b));
    return {
        _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(table(law.main), b), m, table(law.other), b)};
  }
};

// Random bytes: 64 at each index.
class Stream {
 public:
  explicit Stream(std::uint64_t key)
      : key_(key),
        low_(_mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(key))),
                              _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                                                   11, 12, 13, 14, 15),
                                                 _mm512_set1_epi32(static_cast<int>(kGolden32))))),
        high_(_mm512_set1_epi32(static_cast<int>(key >> 32))) {}
  std::uint64_t key() const { return key_; }
  Bytes at(std::uint32_t index) const { return {words(index * 16)}; }
  // The values at a position and the 15 that follow it.
  __m512i words(std::uint32_t position) const {
    __m512i x = _mm512_add_epi32(low_, _mm512_set1_epi32(static_cast<int>(position * kGolden32)));
    x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32(static_cast<int>(kHashMul1)));
    x = _mm512_xor_si512(x, high_);
    x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 15));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32(static_cast<int>(kHashMul2)));
    return _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
  }

 private:
  std::uint64_t key_;
  __m512i low_, high_;
};

inline std::uint32_t select_ib16(std::uint32_t* ib, const std::uint32_t* due,
                                 const std::uint8_t* matched, std::uint32_t first, std::uint32_t n,
                                 std::uint32_t limit, std::uint64_t key, std::uint32_t* reached) {
  const __mmask16 live = static_cast<__mmask16>(n < 16 ? (1U << n) - 1 : 0xFFFFU);
  const __mmask16 idle =
      _mm_mask_cmpeq_epi8_mask(live, _mm_maskz_loadu_epi8(live, matched), _mm_setzero_si128());
  const __mmask16 sel = _mm512_mask_cmple_epu32_mask(idle, Stream(key).words(first),
                                                     _mm512_set1_epi32(static_cast<int>(limit)));
  const __m512i old = _mm512_maskz_loadu_epi32(live, ib);
  const __m512i now = _mm512_mask_add_epi32(old, sel, old, _mm512_set1_epi32(1));
  _mm512_mask_storeu_epi32(ib, sel, now);
  *reached = _mm512_mask_cmpge_epu32_mask(sel, now, _mm512_maskz_loadu_epi32(live, due));
  return sel;
}

}  // namespace newfound::avx512
