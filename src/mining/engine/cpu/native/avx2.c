/* AVX2, and the measurements of its units. */
#include "kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

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
#define VECTORS 2
#define SCALARS 0
#include "sweep.h"
#define REGISTER "x"
#define CHAINS 0
#include "ports.h"
#undef WIDTH
#undef TARGET

#define WIDTH avx2_single
#define TARGET __attribute__((target("avx2") BY_PRESSURE))
#define LAG 0
#define VECTORS 1
#define SCALARS 0
#define OTHERS sweep_avx2
#include "sweep.h"
#undef WIDTH
#undef TARGET

#define V "ymm"
#define BYTES "32"
#define WIDTH avx2_staggered
#define TARGET __attribute__((target("avx2")))
#define SCALARS 0
#define OTHERS sweep_avx2
#include "assembly.h"
#undef WIDTH

#define WIDTH avx2_mixed
#define SCALARS 1
#define OTHERS sweep_avx2
#include "assembly.h"
#endif
