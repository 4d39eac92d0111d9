// 64 lanes of 8 bits in one AVX-512 register (F, BW, DQ, VL).
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "lanes_plain.hpp"

namespace newfound::avx512 {

struct Mask {
  __mmask64 m;
  static Mask of(std::uint64_t bits) { return {bits}; }
  bool any() const { return m != 0; }
};
inline Mask operator&(Mask x, Mask y) { return {x.m & y.m}; }
inline Mask operator|(Mask x, Mask y) { return {x.m | y.m}; }
inline Mask without(Mask x, Mask y) { return {x.m & ~y.m}; }

inline __m512i random16(std::uint64_t key, std::uint32_t position) {
  const __m512i lanes =
      _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm512_set1_epi32(static_cast<int>(kGolden32)));
  __m512i x = _mm512_add_epi32(
      _mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(key) + position * kGolden32)),
      lanes);
  x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
  x = _mm512_mullo_epi32(x, _mm512_set1_epi32(static_cast<int>(kHashMul1)));
  x = _mm512_xor_si512(x, _mm512_set1_epi32(static_cast<int>(key >> 32)));
  x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 15));
  x = _mm512_mullo_epi32(x, _mm512_set1_epi32(static_cast<int>(kHashMul2)));
  return _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
}

struct Random {
  __m512i v;
  Random(std::uint64_t key, std::uint32_t index) : v(random16(key, index * 16)) {}
  Mask below(std::uint8_t t) const {
    return {_mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(static_cast<char>(t)))};
  }
  Mask equal(std::uint8_t t) const {
    return {_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(static_cast<char>(t)))};
  }
};

struct Count {
  __m512i v;
};

struct Random16 {
  __m512i a, b;
  Random16(std::uint64_t key, std::uint32_t index)
      : a(random16(key, index * 16)), b(random16(key, index * 16 + 16)) {}
  Count count(const std::uint16_t* edge, std::uint32_t n) const;
  std::uint64_t below(std::uint16_t t) const {
    const __m512i v = _mm512_set1_epi16(static_cast<short>(t));
    return _mm512_kunpackd(_mm512_cmplt_epu16_mask(b, v), _mm512_cmplt_epu16_mask(a, v));
  }
};

// Branchless binary search among the edges, 32 lanes a register, several registers abreast.
template <int kRegisters>
inline void search(const __m512i* u, const std::uint16_t* edge, std::uint32_t n, __m512i* at) {
  const __m512i low = _mm512_load_si512(edge);
  for (int r = 0; r < kRegisters; ++r) at[r] = _mm512_setzero_si512();
  if (n > 31) {
    const __m512i high = _mm512_load_si512(edge + 32);
    for (short width = 32; width > 0; width = static_cast<short>(width / 2))
      for (int r = 0; r < kRegisters; ++r) {
        const __m512i probe =
            _mm512_add_epi16(at[r], _mm512_set1_epi16(static_cast<short>(width - 1)));
        at[r] = _mm512_mask_add_epi16(
            at[r], _mm512_cmpgt_epu16_mask(u[r], _mm512_permutex2var_epi16(low, probe, high)),
            at[r], _mm512_set1_epi16(width));
      }
    return;
  }
  for (short width = n > 15 ? 16 : n > 7 ? 8 : 4; width > 0; width = static_cast<short>(width / 2))
    for (int r = 0; r < kRegisters; ++r) {
      const __m512i probe =
          _mm512_add_epi16(at[r], _mm512_set1_epi16(static_cast<short>(width - 1)));
      at[r] = _mm512_mask_add_epi16(
          at[r], _mm512_cmpgt_epu16_mask(u[r], _mm512_permutexvar_epi16(probe, low)), at[r],
          _mm512_set1_epi16(width));
    }
}

inline Count narrow(__m512i a, __m512i b) {
  return {_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)),
                             _mm512_cvtepi16_epi8(b), 1)};
}

inline Count Random16::count(const std::uint16_t* edge, std::uint32_t n) const {
  if (n <= 2) {
    __m512i c = _mm512_setzero_si512();
    for (std::uint32_t e = 0; e < n; ++e) {
      const __m512i v = _mm512_set1_epi16(static_cast<short>(edge[e]));
      const __mmask64 m =
          _mm512_kunpackd(_mm512_cmpgt_epu16_mask(b, v), _mm512_cmpgt_epu16_mask(a, v));
      c = _mm512_mask_add_epi8(c, m, c, _mm512_set1_epi8(1));
    }
    return {c};
  }
  const __m512i u[2] = {a, b};
  __m512i at[2];
  search<2>(u, edge, n, at);
  return narrow(at[0], at[1]);
}

struct Lanes {
  __m512i v;
  static Lanes load(const std::uint8_t* p) { return {_mm512_loadu_si512(p)}; }
  void store(std::uint8_t* p) const { _mm512_storeu_si512(p, v); }
  void lower_by(Count c, std::uint8_t more) {
    v = _mm512_subs_epu8(_mm512_subs_epu8(v, c.v), _mm512_set1_epi8(static_cast<char>(more)));
  }
  void lower(Mask m) { v = _mm512_mask_subs_epu8(v, m.m, v, _mm512_set1_epi8(1)); }
  void raise(Mask m) { v = _mm512_mask_adds_epu8(v, m.m, v, _mm512_set1_epi8(1)); }
  bool zero() const { return _mm512_test_epi64_mask(v, v) == 0; }
  std::uint64_t included() const { return _mm512_movepi8_mask(v); }
  void restore(Lanes old, Mask m) { v = _mm512_mask_mov_epi8(v, m.m, old.v); }
  std::uint64_t below(std::uint8_t t) const {
    return _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(static_cast<char>(t)));
  }
  bool at_least(std::uint8_t t) const {
    return _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8(static_cast<char>(t))) != 0;
  }
};

inline std::uint32_t advance16(std::uint32_t* ib, const std::uint32_t* due,
                               const std::uint8_t* matched, std::uint32_t first, std::uint32_t n,
                               std::uint32_t limit, std::uint64_t key, std::uint32_t* reached) {
  const __mmask16 live = static_cast<__mmask16>(n < 16 ? (1U << n) - 1 : 0xFFFFU);
  const __mmask16 idle =
      _mm_mask_cmpeq_epi8_mask(live, _mm_maskz_loadu_epi8(live, matched), _mm_setzero_si128());
  const __mmask16 sel = _mm512_mask_cmple_epu32_mask(idle, random16(key, first),
                                                     _mm512_set1_epi32(static_cast<int>(limit)));
  const __m512i old = _mm512_maskz_loadu_epi32(live, ib);
  const __m512i now = _mm512_mask_add_epi32(old, sel, old, _mm512_set1_epi32(1));
  _mm512_mask_storeu_epi32(ib, sel, now);
  *reached = _mm512_mask_cmpge_epu32_mask(sel, now, _mm512_maskz_loadu_epi32(live, due));
  return sel;
}

}  // namespace newfound::avx512
