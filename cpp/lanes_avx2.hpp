// 64 lanes of 8 bits in two AVX2 registers.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "decrement_tables.hpp"
#include "random.hpp"
#include "select_ib16.hpp"

namespace newfound::avx2 {

// Numbers that are added up side by side: products are rounded before they are added.
struct Doubles {
  static constexpr std::size_t kSize = 4;
  __m256d v;
  static Doubles load(const double* p) { return {_mm256_loadu_pd(p)}; }
  void store(double* p) const { _mm256_storeu_pd(p, v); }
  void add(double weight, const double* p) {
    v = _mm256_add_pd(v, _mm256_mul_pd(_mm256_set1_pd(weight), _mm256_loadu_pd(p)));
  }
};

struct Mask {
  __m256i a, b;
  static __m256i spread(std::uint32_t bits) {
    const __m256i bytes =
        _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)),
                            _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2,
                                             2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3));
    const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
  }
  static Mask of(std::uint64_t bits) {
    return {spread(static_cast<std::uint32_t>(bits)),
            spread(static_cast<std::uint32_t>(bits >> 32))};
  }
  std::uint64_t bits() const {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(a)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(b))) << 32;
  }
  bool any() const {
    const __m256i all = _mm256_or_si256(a, b);
    return !_mm256_testz_si256(all, all);
  }
};
inline Mask operator&(Mask x, Mask y) {
  return {_mm256_and_si256(x.a, y.a), _mm256_and_si256(x.b, y.b)};
}
inline Mask operator|(Mask x, Mask y) {
  return {_mm256_or_si256(x.a, y.a), _mm256_or_si256(x.b, y.b)};
}
inline Mask without(Mask x, Mask y) {
  return {_mm256_andnot_si256(y.a, x.a), _mm256_andnot_si256(y.b, x.b)};
}

struct Lanes {
  __m256i a, b;
  static Lanes load(const std::uint8_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
  }
  static Lanes all(std::uint8_t x) {
    const __m256i v = _mm256_set1_epi8(static_cast<char>(x));
    return {v, v};
  }
  void store(std::uint8_t* p) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32), b);
  }
  void unite(Lanes other) {
    a = _mm256_or_si256(a, other.a);
    b = _mm256_or_si256(b, other.b);
  }
  void intersect(Lanes other) {
    a = _mm256_and_si256(a, other.a);
    b = _mm256_and_si256(b, other.b);
  }
  Lanes count_ones() const {
    const __m256i ones = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                          2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    const auto count = [&](__m256i v) {
      return _mm256_add_epi8(
          _mm256_shuffle_epi8(ones, _mm256_and_si256(v, low)),
          _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(v, 4), low)));
    };
    return {count(a), count(b)};
  }
  void lower_by(Lanes d) {
    a = _mm256_subs_epu8(a, d.a);
    b = _mm256_subs_epu8(b, d.b);
  }
  Mask positive() const {
    const __m256i one = _mm256_set1_epi8(1);
    return {_mm256_cmpeq_epi8(_mm256_max_epu8(a, one), a),
            _mm256_cmpeq_epi8(_mm256_max_epu8(b, one), b)};
  }
  void keep(Mask m) {
    a = _mm256_and_si256(a, m.a);
    b = _mm256_and_si256(b, m.b);
  }
  void replace(Mask m, Lanes by) {
    a = _mm256_blendv_epi8(a, by.a, m.a);
    b = _mm256_blendv_epi8(b, by.b, m.b);
  }
  void lower(Mask m) {
    const __m256i one = _mm256_set1_epi8(1);
    a = _mm256_subs_epu8(a, _mm256_and_si256(m.a, one));
    b = _mm256_subs_epu8(b, _mm256_and_si256(m.b, one));
  }
  void raise(Mask m) {
    const __m256i one = _mm256_set1_epi8(1);
    a = _mm256_adds_epu8(a, _mm256_and_si256(m.a, one));
    b = _mm256_adds_epu8(b, _mm256_and_si256(m.b, one));
  }
  bool zero() const {
    const __m256i all = _mm256_or_si256(a, b);
    return _mm256_testz_si256(all, all);
  }
  Mask included() const {
    const __m256i none = _mm256_setzero_si256();
    return {_mm256_cmpgt_epi8(none, a), _mm256_cmpgt_epi8(none, b)};
  }
  bool at_least(std::uint8_t t) const {
    const __m256i v = _mm256_set1_epi8(static_cast<char>(t));
    return Mask{_mm256_cmpeq_epi8(_mm256_max_epu8(a, v), a),
                _mm256_cmpeq_epi8(_mm256_max_epu8(b, v), b)}
        .any();
  }
};

struct Bytes {
  __m256i a, b;
  static __m256i less(__m256i x, std::uint8_t t) {
    if (t == 0) return _mm256_setzero_si256();
    const __m256i top = _mm256_set1_epi8(static_cast<char>(t - 1));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(x, top), x);
  }
  Mask below(std::uint8_t t) const { return {less(a, t), less(b, t)}; }
  Mask equal(std::uint8_t t) const {
    const __m256i v = _mm256_set1_epi8(static_cast<char>(t));
    return {_mm256_cmpeq_epi8(a, v), _mm256_cmpeq_epi8(b, v)};
  }
  Lanes look_up(const ByteLaw& law) const {
    const auto table = [](const std::uint8_t* p) {
      return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    };
    const __m256i above_of = table(law.above), main_of = table(law.main),
                  other_of = table(law.other);
    const auto look = [&](__m256i u) {
      const __m256i at = _mm256_and_si256(u, _mm256_set1_epi8(15));
      const __m256i low =
          _mm256_cmpeq_epi8(_mm256_min_epu8(u, _mm256_shuffle_epi8(above_of, at)), u);
      return _mm256_blendv_epi8(_mm256_shuffle_epi8(other_of, at), _mm256_shuffle_epi8(main_of, at),
                                low);
    };
    return {look(a), look(b)};
  }
};

// Random bytes: 64 at each index.
class Stream {
 public:
  explicit Stream(std::uint64_t key)
      : key_(key),
        low_(_mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(key))),
                              _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                                                 _mm256_set1_epi32(static_cast<int>(kGolden32))))),
        high_(_mm256_set1_epi32(static_cast<int>(key >> 32))) {}
  std::uint64_t key() const { return key_; }
  Bytes at(std::uint32_t index) const { return {words(index * 16), words(index * 16 + 8)}; }
  // The values at a position and the 7 that follow it.
  __m256i words(std::uint32_t position) const {
    __m256i x = _mm256_add_epi32(low_, _mm256_set1_epi32(static_cast<int>(position * kGolden32)));
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 16));
    x = _mm256_mullo_epi32(x, _mm256_set1_epi32(static_cast<int>(kHashMul1)));
    x = _mm256_xor_si256(x, high_);
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 15));
    x = _mm256_mullo_epi32(x, _mm256_set1_epi32(static_cast<int>(kHashMul2)));
    return _mm256_xor_si256(x, _mm256_srli_epi32(x, 16));
  }

 private:
  std::uint64_t key_;
  __m256i low_, high_;
};

inline std::uint32_t select_ib16(std::uint32_t* ib, const std::uint32_t* due,
                                 const std::uint8_t* matched, std::uint32_t first, std::uint32_t n,
                                 std::uint32_t limit, std::uint64_t key, std::uint32_t* reached) {
  if (n < 16) return select_ib16_portable(ib, due, matched, first, n, limit, key, reached);
  std::uint32_t selected = 0, reach = 0;
  const __m256i top = _mm256_set1_epi32(static_cast<int>(limit));
  for (int h = 0; h < 2; ++h) {
    auto* count = reinterpret_cast<__m256i*>(ib + 8 * h);
    const __m256i r = Stream(key).words(first + 8 * static_cast<std::uint32_t>(h));
    const __m256i hit = _mm256_cmpeq_epi32(_mm256_min_epu32(r, top), r);
    const __m256i idle = _mm256_cmpeq_epi32(
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(matched + 8 * h))),
        _mm256_setzero_si256());
    const __m256i sel = _mm256_and_si256(hit, idle);
    const __m256i now = _mm256_sub_epi32(_mm256_loadu_si256(count), sel);
    _mm256_storeu_si256(count, now);
    const __m256i wait = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(due + 8 * h));
    const __m256i ripe =
        _mm256_and_si256(sel, _mm256_cmpeq_epi32(_mm256_max_epu32(now, wait), now));
    selected |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(sel))) << (8 * h);
    reach |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(ripe))) << (8 * h);
  }
  *reached = reach;
  return selected;
}

}  // namespace newfound::avx2
