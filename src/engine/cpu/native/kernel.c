/*
 * The native kernels, one for each set of vector instructions. build.js compiles this file when newcut is published or
 * installed, and native-kernel.ts loads the result. It exports a function for each width that this processor supports,
 * named native-avx512, native-avx2, native-sse41 or native-neon,
 *
 *     (job: Uint32Array, from: number, to: number) => number
 *
 * which sweeps as documented in kernel.ts. Other orders of the same sweep have the name of the width and their own,
 * such as "native-avx512 steps". native-order.ts chooses one. It also exports
 *
 *     "ports avx512" and so on: (kind: number, count: number) => number     see ports.h
 *     compiler, processor                                                    texts that identify them
 *
 * It has no state between calls, so any number of threads may load it.
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
#include <cpuid.h>
#include <immintrin.h>

/* The source of each byte when four lanes are rotated right by 16 and by 8 bits. */
#define FROM_16 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
#define FROM_8 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12

/*
 * The compiler turns the shifts into one rotate instruction. The order of the source is kept in the orders with a lag:
 * gcc's second scheduling takes the lag away. It must not gather the scalar hash into vectors.
 */
#if defined(__clang__)
#define IN_ORDER
#else
#define IN_ORDER , optimize("no-schedule-insns2", "no-tree-slp-vectorize")
#endif
#define VECTOR_BYTES 64
#define ROTATE(x, n) SHIFTED(x, n)
#define WITHIN(x, y) _mm512_cmple_epu32_mask((__m512i)(x), (__m512i)(y))

#define WIDTH avx512
#define TARGET __attribute__((target("avx512f")))
#define LAG 0
#define SCALARS 0
#include "sweep.h"
#define REGISTER "v"
#define CHAINS 0
#include "ports.h"
#undef WIDTH
#undef TARGET

#define WIDTH avx512_steps
#define TARGET __attribute__((target("avx512f") IN_ORDER))
#define LAG 7
#define SCALARS 0
#define OTHERS sweep_avx512
#include "sweep.h"
#undef WIDTH
#undef TARGET

#define WIDTH avx512_mixed
#define TARGET __attribute__((target("avx512f") IN_ORDER))
#define LAG 7
#define SCALARS 1
#define OTHERS sweep_avx512
#include "sweep.h"
#undef WIDTH
#undef TARGET

#undef VECTOR_BYTES
#undef ROTATE
#undef WITHIN

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
#define LAG 0
#define SCALARS 0
#include "sweep.h"
#define REGISTER "x"
#define CHAINS 0
#include "ports.h"
#undef WIDTH
#undef TARGET
#undef VECTOR_BYTES
#undef SHUFFLED
#undef ROTATE
#undef WITHIN

#define WIDTH sse41
#define TARGET __attribute__((target("sse4.1")))
#define VECTOR_BYTES 16
#define SHUFFLED(x, ...) ((VECTOR)_mm_shuffle_epi8((__m128i)(x), _mm_setr_epi8(__VA_ARGS__)))
#define ROTATE(x, n) ((n) == 16 ? SHUFFLED(x, FROM_16) : (n) == 8 ? SHUFFLED(x, FROM_8) : SHIFTED(x, n))
#define WITHIN(x, y) _mm_movemask_epi8((__m128i)((x) <= (y)))
#define LAG 0
#define SCALARS 0
#include "sweep.h"
#define REGISTER "x"
#define CHAINS 1
#include "ports.h"
#undef WIDTH
#undef TARGET

/* What WebAssembly becomes: SSE4.1 with three operands. */
#define WIDTH avx
#define TARGET __attribute__((target("avx")))
#define REGISTER "x"
#define CHAINS 0
#include "ports.h"
#undef WIDTH
#undef TARGET
#undef VECTOR_BYTES
#undef SHUFFLED
#undef ROTATE
#undef WITHIN

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
#define LAG 0
#define SCALARS 0
#include "sweep.h"
#define REGISTER "w"
#define CHAINS 0
#include "ports.h"
#undef WIDTH
#undef TARGET
#undef VECTOR_BYTES
#undef ROTATE
#undef WITHIN
#endif

/* General registers. A chain of their additions takes one cycle each, so it tells the clock (kind 7). */
#define WIDTH general
#define TARGET
#define VECTOR_BYTES 4
#define ROTATE(x, n) SHIFTED(x, n)
#define REGISTER "r"
#define CHAINS 1
#include "ports.h"

/* Mark of the sources, which build.js and native-files.ts look for in the compiled file. */
#if defined(SOURCES)
__attribute__((used)) static const char sources[] = SOURCES;
#endif

typedef uint32_t ports_function(uint32_t kind, uint32_t count);

/* (job, from, to) => number */
static napi_value call(napi_env env, napi_callback_info info) {
  napi_value arguments[3], result;
  napi_typedarray_type type;
  size_t count = 3, words;
  void *sweep, *job;
  uint32_t from, to;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, &sweep) != napi_ok ||
      napi_get_typedarray_info(env, arguments[0], &type, &words, &job, NULL, NULL) != napi_ok ||
      napi_get_value_uint32(env, arguments[1], &from) != napi_ok ||
      napi_get_value_uint32(env, arguments[2], &to) != napi_ok ||
      type != napi_uint32_array || words != sizeof(struct job) / sizeof(uint32_t) ||
      ((const struct job *)job)->swept > 15 || to > 65536) {
    napi_throw_type_error(env, NULL, "expected a job, and the start and end of a sweep");
    return NULL;
  }
  const uint32_t found = ((sweep_function *)sweep)(job, from, to);
  return napi_create_uint32(env, found, &result) == napi_ok ? result : NULL;
}

/* (kind, count) => number */
static napi_value measure(napi_env env, napi_callback_info info) {
  napi_value arguments[2], result;
  size_t given = 2;
  void *ports;
  uint32_t kind, count;
  if (napi_get_cb_info(env, info, &given, arguments, NULL, &ports) != napi_ok ||
      napi_get_value_uint32(env, arguments[0], &kind) != napi_ok ||
      napi_get_value_uint32(env, arguments[1], &count) != napi_ok) {
    napi_throw_type_error(env, NULL, "expected a kind of operation, and a count");
    return NULL;
  }
  const uint32_t executed = ((ports_function *)ports)(kind, count);
  return napi_create_uint32(env, executed, &result) == napi_ok ? result : NULL;
}

static void offer(napi_env env, napi_value exports, const char *name, napi_callback callback, void *data) {
  napi_value function;
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, data, &function) != napi_ok) return;
  napi_set_named_property(env, exports, name, function);
}

static void tell(napi_env env, napi_value exports, const char *name, const char *text, size_t length) {
  napi_value string;
  if (napi_create_string_latin1(env, text, length, &string) != napi_ok) return;
  napi_set_named_property(env, exports, name, string);
}

#if defined(__x86_64__)
/* Maker, and the signature of family, model and stepping: the brand is often the same for several generations. */
static void tell_processor(napi_env env, napi_value exports) {
  uint32_t maker[4], signature[4];
  char text[12 + 1 + 8];
  if (!__get_cpuid(0, &maker[0], &maker[1], &maker[3], &maker[2])) return;
  if (!__get_cpuid(1, &signature[0], &signature[1], &signature[2], &signature[3])) return;
  for (int i = 0; i < 12; i++) text[i] = (char)(maker[1 + i / 4] >> (8 * (i % 4)));
  text[12] = ' ';
  for (int i = 0; i < 8; i++) text[13 + i] = "0123456789abcdef"[signature[0] >> (28 - 4 * i) & 15];
  tell(env, exports, "processor", text, sizeof text);
}
#endif

#define OFFER_SWEEP(name, function) offer(env, exports, name, call, (void *)function);
#define OFFER_PORTS(name, function) offer(env, exports, name, measure, (void *)function);

NAPI_MODULE_INIT() {
#if defined(__x86_64__)
  /* These checks include the operating system, which must save the registers. */
  if (__builtin_cpu_supports("avx512f")) {
    OFFER_SWEEP("native-avx512", sweep_avx512)
    OFFER_SWEEP("native-avx512 steps", sweep_avx512_steps)
    OFFER_SWEEP("native-avx512 mixed", sweep_avx512_mixed)
    OFFER_PORTS("ports avx512", ports_avx512)
  }
  if (__builtin_cpu_supports("avx2")) {
    OFFER_SWEEP("native-avx2", sweep_avx2)
    OFFER_PORTS("ports avx2", ports_avx2)
  }
  if (__builtin_cpu_supports("sse4.1")) {
    OFFER_SWEEP("native-sse41", sweep_sse41)
    OFFER_PORTS("ports sse41", ports_sse41)
  }
  if (__builtin_cpu_supports("avx")) OFFER_PORTS("ports avx", ports_avx)
  tell_processor(env, exports);
#elif defined(__aarch64__)
  OFFER_SWEEP("native-neon", sweep_neon)
  OFFER_PORTS("ports neon", ports_neon)
#endif
  OFFER_PORTS("ports general", ports_general)
  tell(env, exports, "compiler", __VERSION__, NAPI_AUTO_LENGTH);
  return exports;
}
