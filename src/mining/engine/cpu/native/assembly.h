/*
 * The sweep of AVX2 and of 128-bit AVX in assembly: one vector of nonces at a time, in an order and with registers that
 * scripts/assembly chooses. A state has 16 words and these processors 16 registers, so two vectors do not fit. One
 * vector is enough where an operation takes one cycle, because four G run side by side. Each is one step behind the one
 * before it, so that few values wait: 34 are spilled for 8 nonces. gcc spills 51, and with two vectors 332.
 *
 * The file of a width includes this one for each order, with WIDTH, TARGET, VECTOR_BYTES, SCALARS and OTHERS as in
 * sweep.h, and
 *
 *     V, BYTES    "ymm" and "32", or "xmm" and "16"
 *
 * With SCALARS, general registers hash one more nonce beside each vector. The instructions read a table of rows, one
 * vector each: masks, swept words, spilled values and uniform values. rows.h has their numbers.
 */

#include "rows.h"

#define LANES (VECTOR_BYTES / 4)
/* The caller's chunk is two vectors. */
#define CHUNK (2 * LANES)
#define CHUNK_OF(nonce) (first + (((nonce) - first) & ~(uint32_t)(CHUNK - 1)))

#define R(n) "%%" V #n
/* The first eight rows have a short address. */
#define AT(row) #row "*" BYTES "-128(%[table])"
#define LINE(text) text "\n\t"
#define BINARY(name, to, a, b) LINE(name " " b "," R(a) "," R(to))
#define ADD(to, a, b) BINARY("vpaddd", to, a, R(b))
#define XOR(to, a, b) BINARY("vpxor", to, a, R(b))
#define OR(to, a, b) BINARY("vpor", to, a, R(b))
#define SHUFFLE(to, a, b) BINARY("vpshufb", to, a, R(b))
#define ADD_ROW(to, a, row) BINARY("vpaddd", to, a, AT(row))
#define XOR_ROW(to, a, row) BINARY("vpxor", to, a, AT(row))
#define OR_ROW(to, a, row) BINARY("vpor", to, a, AT(row))
#define SHUFFLE_ROW(to, a, row) BINARY("vpshufb", to, a, AT(row))
#define LEFT(to, a, bits) LINE("vpslld $" #bits "," R(a) "," R(to))
#define RIGHT(to, a, bits) LINE("vpsrld $" #bits "," R(a) "," R(to))
#define LOAD(to, row) LINE("vmovdqa " AT(row) "," R(to))
#define STORE(from, row) LINE("vmovdqa " R(from) "," AT(row))
/* The word of the row that all lanes share, and words of the rows after the uniform ones. */
#define ROW(row) AT(row)
#define WORD(index) "4*" #index "+" STRING(WORDS_ROW) "*" BYTES "-128(%[table])"
#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x
#define REGISTER(name) "%%" #name
#define MOVE(from, to) LINE("movl " from "," to)
#define PLUS(other, to) LINE("addl " other "," to)
#define OTHER(other, to) LINE("xorl " other "," to)
#define TURN(name, bits) LINE("rorl $" #bits ",%%" #name)

#if SCALARS
#define INSTRUCTIONS "mixed.h"
#define PER_PASS (LANES + 1)
#define USED , "eax", "ebx", "ecx", "edx", "esi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"
#else
#define INSTRUCTIONS "staggered.h"
#define PER_PASS LANES
#define USED
#endif

typedef uint32_t NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));

TARGET uint32_t NAME(sweep)(const struct job *job, uint32_t from, uint32_t to) {
  /* The instructions are those for word 7. */
  if (job->swept != 7 || from >= to) return OTHERS(job, from, to);
  const uint32_t first = from;
  NAME(vector) rows[WORDS_ROW + 32 / VECTOR_BYTES];
#if SCALARS
  uint32_t *const words = (uint32_t *)&rows[WORDS_ROW];
#endif
  const NAME(vector) bound = job->bound - (NAME(vector)){0};
#define UNIFORM(row, value) rows[row] = (value) - (NAME(vector)){0};
  UNIFORM_ROWS
  for (uint32_t byte = 0; byte < VECTOR_BYTES; byte++) {
    ((uint8_t *)&rows[MASK16_ROW])[byte] = (byte & ~3u) | ((byte + 2) & 3);
    ((uint8_t *)&rows[MASK8_ROW])[byte] = (byte & ~3u) | ((byte + 1) & 3);
  }
  for (uint32_t lane = 0; lane < LANES; lane++) rows[SWEPT_ROW][lane] = from + lane;
#if SCALARS
  /* General registers hash the last nonces of the sweep, one for each vector. */
  uint32_t beside = to - (to - from + LANES) / PER_PASS;
  const uint32_t end = from + (to - beside) * LANES;
#else
  const uint32_t end = to;
#endif
  for (; from < end; from += LANES) {
#if SCALARS
    words[BESIDE_WORD] = beside;
#endif
    __asm__ volatile(
#include INSTRUCTIONS
        :
        : [table] "D"((uint8_t *)rows + 128)
        : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
          "xmm12", "xmm13", "xmm14", "xmm15" USED);
    if (WITHIN(rows[TOP_ROW], bound)) return CHUNK_OF(from);
#if SCALARS
    /* Only vectors go on, because the first chunk with a candidate is wanted. */
    if (words[TOP_WORD] <= job->bound) return OTHERS(job, CHUNK_OF(from + LANES), to);
    beside++;
#endif
    rows[SWEPT_ROW] += LANES;
  }
  return to;
}

#undef LANES
#undef CHUNK
#undef CHUNK_OF
#undef R
#undef AT
#undef LINE
#undef BINARY
#undef ADD
#undef XOR
#undef OR
#undef SHUFFLE
#undef ADD_ROW
#undef XOR_ROW
#undef OR_ROW
#undef SHUFFLE_ROW
#undef LEFT
#undef RIGHT
#undef LOAD
#undef STORE
#undef ROW
#undef WORD
#undef STRING
#undef STRING_OF
#undef REGISTER
#undef MOVE
#undef PLUS
#undef OTHER
#undef TURN
#undef INSTRUCTIONS
#undef PER_PASS
#undef USED
#undef UNIFORM
#undef SCALARS
#undef OTHERS
