/* AVX-512, and the measurements of its units. */
#include "kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* The compiler turns the shifts into one rotate instruction. */
#define VECTOR_BYTES 64
#define ROTATE(x, n) SHIFTED(x, n)
#define WITHIN(x, y) _mm512_cmple_epu32_mask((__m512i)(x), (__m512i)(y))

#define WIDTH avx512
#define TARGET __attribute__((target("avx512f")))
#define LAG 0
#define VECTORS 2
#define SCALARS 0
#include "sweep.h"
#define REGISTER "v"
#define CHAINS 0
#include "ports.h"
#endif
