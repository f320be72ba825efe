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
#include "kernel.h"

#if defined(__x86_64__)
#include <cpuid.h>
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
    OFFER_SWEEP("native-avx2 single", sweep_avx2_single)
    OFFER_SWEEP("native-avx2 staggered", sweep_avx2_staggered)
    OFFER_SWEEP("native-avx2 mixed", sweep_avx2_mixed)
    OFFER_PORTS("ports avx2", ports_avx2)
  }
  if (__builtin_cpu_supports("sse4.1")) {
    OFFER_SWEEP("native-sse41", sweep_sse41)
    OFFER_SWEEP("native-sse41 single", sweep_sse41_single)
    OFFER_PORTS("ports sse41", ports_sse41)
  }
  if (__builtin_cpu_supports("avx")) {
    OFFER_SWEEP("native-sse41 staggered", sweep_sse41_staggered)
    OFFER_SWEEP("native-sse41 mixed", sweep_sse41_mixed)
    OFFER_PORTS("ports avx", ports_avx)
  }
  tell_processor(env, exports);
#elif defined(__aarch64__)
  OFFER_SWEEP("native-neon", sweep_neon)
  OFFER_SWEEP("native-neon single", sweep_neon_single)
  OFFER_PORTS("ports neon", ports_neon)
#endif
  OFFER_PORTS("ports general", ports_general)
  tell(env, exports, "compiler", __VERSION__, NAPI_AUTO_LENGTH);
  return exports;
}
