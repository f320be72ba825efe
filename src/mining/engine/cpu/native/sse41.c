/* SSE4.1, and the measurements of the units of SSE4.1 and of 128-bit AVX. */
#include "kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define WIDTH sse41
#define TARGET __attribute__((target("sse4.1")))
#define VECTOR_BYTES 16
#define SHUFFLED(x, ...) ((VECTOR)_mm_shuffle_epi8((__m128i)(x), _mm_setr_epi8(__VA_ARGS__)))
#define ROTATE(x, n) ((n) == 16 ? SHUFFLED(x, FROM_16) : (n) == 8 ? SHUFFLED(x, FROM_8) : SHIFTED(x, n))
#define WITHIN(x, y) _mm_movemask_epi8((__m128i)((x) <= (y)))
#define LAG 0
#define VECTORS 2
#define SCALARS 0
#include "sweep.h"
#define REGISTER "x"
#define CHAINS 1
#include "ports.h"
#undef WIDTH
#undef TARGET

#define WIDTH sse41_single
#define TARGET __attribute__((target("sse4.1")))
#define LAG 0
#define VECTORS 1
#define SCALARS 0
#define OTHERS sweep_sse41
#include "sweep.h"
#undef WIDTH
#undef TARGET

/* Three operands, where the processor has AVX. */
#define V "xmm"
#define BYTES "16"
#define TARGET __attribute__((target("avx")))
#define WIDTH sse41_staggered
#define SCALARS 0
#define OTHERS sweep_sse41
#include "assembly.h"
#undef WIDTH

#define WIDTH sse41_mixed
#define SCALARS 1
#define OTHERS sweep_sse41
#include "assembly.h"
#undef WIDTH
#undef TARGET

/* What WebAssembly becomes: SSE4.1 with three operands. */
#define WIDTH avx
#define TARGET __attribute__((target("avx")))
#define REGISTER "x"
#define CHAINS 0
#include "ports.h"
#endif
