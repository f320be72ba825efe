/*
 * Measures how many operations of a width the processor starts in a cycle. kernel.c includes this file once for each
 * width, with WIDTH, TARGET, VECTOR_BYTES and ROTATE as in sweep.h, and
 *
 *     REGISTER   constraint of its registers for the assembler
 *     CHAINS     0: operations do not depend on each other. 1: they are ten chains, for instruction sets that overwrite
 *                an operand and would need a copy of it
 *
 * Without a clock, so the caller measures the time. The empty assembler statements keep the compiler from removing,
 * joining or moving operations; they add no instruction.
 */

#define PORTS NAME(ports)
#if VECTOR_BYTES > 4
typedef uint32_t NAME(operand) __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef uint32_t NAME(operand);
#endif
#define VECTOR NAME(operand)

#define OPAQUE(x) __asm__ volatile("" : "+" REGISTER(x));
#if CHAINS
#define ONE(c, operation) c = operation(c, y); OPAQUE(c)
#else
#define ONE(c, operation) { VECTOR t = operation(c, y); OPAQUE(c) OPAQUE(t) }
#endif
/* Ten: with a latency of two cycles, eight chains would keep four units busy only if no two wait for the same unit. */
#define EACH(operation) \
  ONE(c0, operation) ONE(c1, operation) ONE(c2, operation) ONE(c3, operation) ONE(c4, operation) \
  ONE(c5, operation) ONE(c6, operation) ONE(c7, operation) ONE(c8, operation) ONE(c9, operation)
#define NEXT(operation) c0 = operation(c0, y); OPAQUE(c0)
#define FOUR(form, operation) form(operation) form(operation) form(operation) form(operation)

/* The repeated use of `x` in one expression is wanted: it is what the kernels do. */
#define ADD(x, y) ((x) + (y))
#define XOR(x, y) ((x) ^ (y))
#define ROTATE16(x, y) ROTATE(x, 16)
#define ROTATE12(x, y) ROTATE(x, 12)
#define ROTATE8(x, y) ROTATE(x, 8)
#define ROTATE7(x, y) ROTATE(x, 7)

/*
 * G without zero message words, then with one: together the proportions of a hash. The second half of the chains is two
 * operations ahead, so that no rotation meets a rotation of the first half. Each scheduler of Zen 4 has one unit, and
 * only some units rotate: ten rotations in a row fill those schedulers while others are idle.
 */
#define BOTH(first, second) \
  ONE(c0, first) ONE(c5, second) ONE(c1, first) ONE(c6, second) ONE(c2, first) \
  ONE(c7, second) ONE(c3, first) ONE(c8, second) ONE(c4, first) ONE(c9, second)
#define MIX \
  BOTH(ADD, XOR) BOTH(ADD, ROTATE16) BOTH(XOR, ADD) BOTH(ROTATE16, XOR) \
  BOTH(ADD, ROTATE12) BOTH(XOR, ADD) BOTH(ROTATE12, ADD) BOTH(ADD, XOR) \
  BOTH(ADD, ROTATE8) BOTH(XOR, ADD) BOTH(ROTATE8, XOR) BOTH(ADD, ROTATE7) \
  BOTH(XOR, ADD) BOTH(ROTATE7, XOR) BOTH(ADD, ROTATE16) BOTH(XOR, ADD) \
  BOTH(ROTATE16, XOR) BOTH(ADD, ROTATE12) BOTH(XOR, ADD) BOTH(ROTATE12, XOR) \
  BOTH(ADD, ROTATE8) BOTH(XOR, ADD) BOTH(ROTATE8, XOR) BOTH(ADD, ROTATE7) \
  BOTH(XOR, ADD) BOTH(ROTATE7, ADD)
#define MEASURED(operation) \
  for (uint32_t i = 0; i < count; i++) { \
    FOUR(EACH, operation) FOUR(EACH, operation) FOUR(EACH, operation) FOUR(EACH, operation) \
  } \
  return 160;
#define CHAINED(operation) \
  for (uint32_t i = 0; i < count; i++) { FOUR(NEXT, operation) FOUR(NEXT, operation) } \
  return 8;

/* Executes `count` times the operations of this kind (names in bench/ports.ts). Returns how many one time has, or 0. */
TARGET uint32_t PORTS(uint32_t kind, uint32_t count) {
  VECTOR c0 = {0}, c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0, c6 = c0, c7 = c0, c8 = c0, c9 = c0;
  VECTOR y = c0 + 0x9e3779b9u;
  OPAQUE(y)
  switch (kind) {
    case 0: MEASURED(ADD)
    case 1: MEASURED(XOR)
    case 2: MEASURED(ROTATE16)
    case 3: MEASURED(ROTATE12)
    case 4: MEASURED(ROTATE8)
    case 5: MEASURED(ROTATE7)
    case 6:
      for (uint32_t i = 0; i < count; i++) { MIX }
      return 260;
    case 7: CHAINED(ADD)
    case 8: CHAINED(XOR)
    case 9: CHAINED(ROTATE7)
  }
  return 0;
}

#undef PORTS
#undef VECTOR
#undef OPAQUE
#undef EACH
#undef ONE
#undef NEXT
#undef FOUR
#undef ADD
#undef XOR
#undef ROTATE16
#undef ROTATE12
#undef ROTATE8
#undef ROTATE7
#undef BOTH
#undef MIX
#undef MEASURED
#undef CHAINED
#undef REGISTER
#undef CHAINS
