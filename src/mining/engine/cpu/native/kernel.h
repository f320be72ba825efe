/*
 * What the files of the native kernels share. Each width of vectors has a file of its own, so that they compile at the
 * same time. A file for another processor is empty.
 */
#pragma once

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
/* The source of each byte when four lanes are rotated right by 16 and by 8 bits. */
#define FROM_16 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
#define FROM_8 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12
#endif

/* OTHERS of sweep.h may be the sweep of another file. */
sweep_function sweep_avx512;
sweep_function sweep_avx512_steps;
sweep_function sweep_avx512_mixed;
sweep_function sweep_avx2;
sweep_function sweep_avx2_single;
sweep_function sweep_avx2_staggered;
sweep_function sweep_avx2_mixed;
sweep_function sweep_sse41;
sweep_function sweep_sse41_single;
sweep_function sweep_sse41_staggered;
sweep_function sweep_sse41_mixed;
sweep_function sweep_neon;
sweep_function sweep_neon_single;

/* Measurements of a processor's units: see ports.h. */
typedef uint32_t ports_function(uint32_t kind, uint32_t count);
ports_function ports_avx512;
ports_function ports_avx2;
ports_function ports_avx;
ports_function ports_sse41;
ports_function ports_neon;
