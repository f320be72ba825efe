/* NEON, and the measurements of its units. */
#include "kernel.h"

#if defined(__aarch64__)
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
#define VECTORS 2
#define SCALARS 0
#include "sweep.h"
#define REGISTER "w"
#define CHAINS 0
#include "ports.h"
#undef WIDTH

/* Cortex-A has few vector units, so that one vector may keep them busy. No such processor was measured. */
#define WIDTH neon_single
#define LAG 0
#define VECTORS 1
#define SCALARS 0
#define OTHERS sweep_neon
#include "sweep.h"
#endif
