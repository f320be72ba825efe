/*
 * The native kernels, one for each set of vector instructions. build.js compiles this file when newcut is published or
 * installed, and native-kernel.ts loads the result. It exports a function for each width that this processor supports,
 * named native-avx512, native-avx2, native-sse41 or native-neon,
 *
 *     (job: Uint32Array, from: number, to: number) => number
 *
 * which sweeps as documented in kernel.ts. It has no state between calls, so any number of threads may load it.
 */

#define NAPI_VERSION 8
#include <node_api.h>
#include <stddef.h>
#include <stdint.h>

/* The input of a sweep; native-kernel.ts fills it as an array. */
struct job {
  uint32_t midstate[8];
  /* The last block, except for the swept word. */
  uint32_t message[16];
  uint32_t bound;
  /* Length of the whole message in bytes. */
  uint32_t total_bytes;
  /* Index of the swept message word. */
  uint32_t swept;
};

typedef uint32_t sweep_function(const struct job *job, uint32_t from, uint32_t to);

/* RFC 7693 section 2.6: initialisation vector. */
static const uint32_t IV[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/* RFC 7693 section 2.7: message schedule. */
static const uint8_t SIGMA[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

#define JOIN(name, width) name##_##width
#define NAME_OF(name, width) JOIN(name, width)
#define NAME(name) NAME_OF(name, WIDTH)

#define SHIFTED(x, n) ((x) >> (n) | (x) << (32 - (n)))

#if defined(__x86_64__)
#include <immintrin.h>

/* The source of each byte when four lanes are rotated right by 16 and by 8 bits. */
#define FROM_16 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
#define FROM_8 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12

/* The compiler turns the shifts into one rotate instruction. */
#define WIDTH avx512
#define TARGET __attribute__((target("avx512f")))
#define VECTOR_BYTES 64
#define ROTATE(x, n) SHIFTED(x, n)
#define WITHIN(x, y) _mm512_cmple_epu32_mask((__m512i)(x), (__m512i)(y))
#include "sweep.h"

/*
 * Two states do not fit into 16 registers. AVX2 is faster if gcc schedules instructions by register pressure before it
 * allocates registers: without these options it reaches 0.94 of the speed. With them, AVX-512 and SSE4.1 reach only
 * 0.88 and 0.98.
 */
#if defined(__clang__)
#define BY_PRESSURE
#else
#define BY_PRESSURE , optimize("schedule-insns", "sched-pressure")
#endif

#define WIDTH avx2
#define TARGET __attribute__((target("avx2") BY_PRESSURE))
#define VECTOR_BYTES 32
#define SHUFFLED(x, ...) ((VECTOR)_mm256_shuffle_epi8((__m256i)(x), _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)))
#define ROTATE(x, n) ((n) == 16 ? SHUFFLED(x, FROM_16) : (n) == 8 ? SHUFFLED(x, FROM_8) : SHIFTED(x, n))
#define WITHIN(x, y) _mm256_movemask_epi8((__m256i)((x) <= (y)))
#include "sweep.h"
#undef SHUFFLED

#define WIDTH sse41
#define TARGET __attribute__((target("sse4.1")))
#define VECTOR_BYTES 16
#define SHUFFLED(x, ...) ((VECTOR)_mm_shuffle_epi8((__m128i)(x), _mm_setr_epi8(__VA_ARGS__)))
#define ROTATE(x, n) ((n) == 16 ? SHUFFLED(x, FROM_16) : (n) == 8 ? SHUFFLED(x, FROM_8) : SHIFTED(x, n))
#define WITHIN(x, y) _mm_movemask_epi8((__m128i)((x) <= (y)))
#include "sweep.h"
#undef SHUFFLED

#elif defined(__aarch64__)
#include <arm_neon.h>

/* These two rotations are one instruction each; the others are a shift left, and a shift right with insert. */
static const uint8_t FROM_8[16] = {1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12};
#define ROTATED_16(x) ((VECTOR)vrev32q_u16((uint16x8_t)(x)))
#define ROTATED_8(x) ((VECTOR)vqtbl1q_u8((uint8x16_t)(x), vld1q_u8(FROM_8)))
#define INSERTED(x, n) ((VECTOR)vsriq_n_u32(vshlq_n_u32((uint32x4_t)(x), 32 - (n)), (uint32x4_t)(x), n))

#define WIDTH neon
#define TARGET
#define VECTOR_BYTES 16
#define ROTATE(x, n) ((n) == 16 ? ROTATED_16(x) : (n) == 8 ? ROTATED_8(x) : INSERTED(x, n))
#define WITHIN(x, y) vmaxvq_u32((uint32x4_t)((x) <= (y)))
#include "sweep.h"
#endif

/* Mark of the sources, which build.js and native-files.ts look for in the compiled file. */
#if defined(SOURCES)
__attribute__((used)) static const char sources[] = SOURCES;
#endif

struct width {
  const char *name;
  sweep_function *sweep;
};

/* (job, from, to) => number */
static napi_value call(napi_env env, napi_callback_info info) {
  napi_value arguments[3], result;
  napi_typedarray_type type;
  size_t count = 3, words;
  void *width, *job;
  uint32_t from, to;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, &width) != napi_ok ||
      napi_get_typedarray_info(env, arguments[0], &type, &words, &job, NULL, NULL) != napi_ok ||
      napi_get_value_uint32(env, arguments[1], &from) != napi_ok ||
      napi_get_value_uint32(env, arguments[2], &to) != napi_ok ||
      type != napi_uint32_array || words != sizeof(struct job) / sizeof(uint32_t) ||
      ((const struct job *)job)->swept > 15 || to > 65536) {
    napi_throw_type_error(env, NULL, "expected a job, and the start and end of a sweep");
    return NULL;
  }
  const uint32_t found = ((const struct width *)width)->sweep(job, from, to);
  return napi_create_uint32(env, found, &result) == napi_ok ? result : NULL;
}

static void offer(napi_env env, napi_value exports, const struct width *width) {
  napi_value function;
  if (napi_create_function(env, width->name, NAPI_AUTO_LENGTH, call, (void *)width, &function) != napi_ok) return;
  napi_set_named_property(env, exports, width->name, function);
}

NAPI_MODULE_INIT() {
#if defined(__x86_64__)
  static const struct width avx512 = {"native-avx512", sweep_avx512};
  static const struct width avx2 = {"native-avx2", sweep_avx2};
  static const struct width sse41 = {"native-sse41", sweep_sse41};
  /* These checks include the operating system, which must save the registers. */
  if (__builtin_cpu_supports("avx512f")) offer(env, exports, &avx512);
  if (__builtin_cpu_supports("avx2")) offer(env, exports, &avx2);
  if (__builtin_cpu_supports("sse4.1")) offer(env, exports, &sse41);
#elif defined(__aarch64__)
  static const struct width neon = {"native-neon", sweep_neon};
  offer(env, exports, &neon);
#endif
  return exports;
}
