/* Orders of AVX-512 that go step by step. */
#include "kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

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

#define WIDTH avx512_steps
#define TARGET __attribute__((target("avx512f") IN_ORDER))
#define LAG 7
#define VECTORS 2
#define SCALARS 0
#define OTHERS sweep_avx512
#include "sweep.h"
#undef WIDTH
#undef TARGET

#define WIDTH avx512_mixed
#define TARGET __attribute__((target("avx512f") IN_ORDER))
#define LAG 7
#define VECTORS 2
#define SCALARS 1
#define OTHERS sweep_avx512
#include "sweep.h"
#endif
