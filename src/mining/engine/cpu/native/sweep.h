/*
 * The sweep for vectors of one width, with a nonce in each 32-bit lane. The file of a width includes this one for each
 * order, with
 *
 *     WIDTH          suffix of the names
 *     TARGET         attribute that enables the instructions, and sets the options of the compiler
 *     VECTOR_BYTES   bytes of a vector
 *     ROTATE(x, n)   the lanes of x, each rotated right by n bits
 *     WITHIN(x, y)   whether some lane of x is <= the same lane of y, unsigned
 *     LAG            0: two vectors alternate every half round. Otherwise: both go step by step through the four G of
 *                    half a round, and the second is LAG steps behind the first (0 < LAG < 10)
 *     VECTORS        2; or 1, without LAG, where 16 registers hold one state but not two
 *     SCALARS        0, or 1: with LAG, general registers hash one more nonce beside the two vectors
 *     OTHERS         sweep of the same width for other messages than those of word 7; undefined: this file has it
 *
 * All functions are inlined into one loop, in which every index is constant. So the compiler itself removes work that
 * is not needed for each nonce (see operations.ts). It moves operations that do not depend on the swept word out of the
 * loop: nearly all of round 1. It drops those that no result depends on: much of the last round. It would not drop
 * additions of zero message words, hence `last`.
 *
 * With two vectors the processor has more to do at the same time, but they need 32 registers. docs/SPEED.md has the
 * speed of each order.
 */

#define VECTOR NAME(vector)
#define LANES (VECTOR_BYTES / 4)
#define PASS (VECTORS * LANES)
/* The caller's chunk is two vectors. */
#define CHUNK (2 * LANES)
#define CHUNK_OF(nonce) (first + (((nonce) - first) & ~(uint32_t)(CHUNK - 1)))
#define INLINE static inline __attribute__((always_inline)) TARGET

typedef uint32_t VECTOR __attribute__((vector_size(VECTOR_BYTES)));

/* The hashes of one vector of nonces: state v and message m (RFC 7693 section 3.2). */
struct NAME(hash) {
  VECTOR v[16];
  VECTOR m[16];
};

INLINE VECTOR NAME(splat)(uint32_t x) {
  return x - (VECTOR){0};
}

/*
 * One of the ten steps of mixing function G (RFC 7693 section 3.1), with message words x and y. Words after `last` are
 * zero.
 */
INLINE void NAME(step)(struct NAME(hash) *hash, int last, int k, int x, int y, int a, int b, int c, int d) {
  VECTOR *v = hash->v, *m = hash->m;
  if (k == 0 && x <= last) v[a] += m[x];
  if (k == 1) v[a] += v[b];
  if (k == 2) v[d] = ROTATE(v[d] ^ v[a], 16);
  if (k == 3) v[c] += v[d];
  if (k == 4) v[b] = ROTATE(v[b] ^ v[c], 12);
  if (k == 5 && y <= last) v[a] += m[y];
  if (k == 6) v[a] += v[b];
  if (k == 7) v[d] = ROTATE(v[d] ^ v[a], 8);
  if (k == 8) v[c] += v[d];
  if (k == 9) v[b] = ROTATE(v[b] ^ v[c], 7);
}

/* Step k of G number g (0 to 3) of half a round: columns if it is even, else diagonals. */
INLINE void NAME(step_of)(struct NAME(hash) *hash, int last, int half, int g, int k) {
  const uint8_t *words = SIGMA[half / 2] + 8 * (half % 2) + 2 * g;
  const int turn = half % 2;
  NAME(step)(hash, last, k, words[0], words[1], g, 4 + (g + turn) % 4, 8 + (g + 2 * turn) % 4,
             12 + (g + 3 * turn) % 4);
}

INLINE void NAME(start)(struct NAME(hash) *hash, const struct job *job) {
  for (int i = 0; i < 8; i++) {
    hash->v[i] = NAME(splat)(job->midstate[i]);
    hash->v[i + 8] = NAME(splat)(IV[i]);
  }
  hash->v[12] ^= NAME(splat)(job->total_bytes);
  hash->v[14] = ~hash->v[14];
}

/* The last word of the hashes, the most significant one of a hash as a number. */
INLINE VECTOR NAME(top_word)(const struct NAME(hash) *hash, const struct job *job) {
  return NAME(splat)(job->midstate[7]) ^ hash->v[7] ^ hash->v[15];
}

#if SCALARS

/* The hash of one nonce in general registers, whose units are idle while vectors are hashed. */
struct NAME(one) {
  uint32_t v[16];
  uint32_t swept;
};

INLINE void NAME(start_one)(struct NAME(one) *one, const struct job *job, uint32_t swept) {
  for (int i = 0; i < 8; i++) {
    one->v[i] = job->midstate[i];
    one->v[i + 8] = IV[i];
  }
  one->v[12] ^= job->total_bytes;
  one->v[14] = ~one->v[14];
  one->swept = swept;
}

INLINE void NAME(mix_one)(struct NAME(one) *one, const struct job *job, int last, int half, int g) {
  const uint8_t *words = SIGMA[half / 2] + 8 * (half % 2) + 2 * g;
  const int turn = half % 2, a = g, b = 4 + (g + turn) % 4, c = 8 + (g + 2 * turn) % 4, d = 12 + (g + 3 * turn) % 4;
  uint32_t *v = one->v;
  if (words[0] <= last) v[a] += words[0] == last ? one->swept : job->message[words[0]];
  v[a] += v[b];
  v[d] = SHIFTED(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = SHIFTED(v[b] ^ v[c], 12);
  if (words[1] <= last) v[a] += words[1] == last ? one->swept : job->message[words[1]];
  v[a] += v[b];
  v[d] = SHIFTED(v[d] ^ v[a], 8);
  v[c] += v[d];
  v[b] = SHIFTED(v[b] ^ v[c], 7);
}

INLINE uint32_t NAME(top_word_one)(const struct NAME(one) *one, const struct job *job) {
  return job->midstate[7] ^ one->v[7] ^ one->v[15];
}

#define BESIDE(half, g) NAME(mix_one)(&one, job, last, half, g);
#else
#define BESIDE(half, g)
#endif

#if LAG

INLINE void NAME(steps)(struct NAME(hash) *hash, int last, int half, int k) {
  if (half < 0) return;
  NAME(step_of)(hash, last, half, 0, k);
  NAME(step_of)(hash, last, half, 1, k);
  NAME(step_of)(hash, last, half, 2, k);
  NAME(step_of)(hash, last, half, 3, k);
}

INLINE void NAME(both)(struct NAME(hash) hashes[2], int last, int half, int k) {
  NAME(steps)(&hashes[0], last, half, k);
  NAME(steps)(&hashes[1], last, k < LAG ? half - 1 : half, k < LAG ? k + 10 - LAG : k - LAG);
}

#define STEP(half, k) NAME(both)(hashes, last, half, k);
#define HALF(h) \
  STEP(h, 0) STEP(h, 1) BESIDE(h, 0) STEP(h, 2) STEP(h, 3) BESIDE(h, 1) STEP(h, 4) STEP(h, 5) STEP(h, 6) BESIDE(h, 2) \
  STEP(h, 7) STEP(h, 8) BESIDE(h, 3) STEP(h, 9)
#define REST(k) if (k >= 10 - LAG) NAME(steps)(&hashes[1], last, 19, k);
#define FINISH REST(0) REST(1) REST(2) REST(3) REST(4) REST(5) REST(6) REST(7) REST(8) REST(9)

#else

INLINE void NAME(mix)(struct NAME(hash) *hash, int last, int half, int g) {
  NAME(step_of)(hash, last, half, g, 0);
  NAME(step_of)(hash, last, half, g, 1);
  NAME(step_of)(hash, last, half, g, 2);
  NAME(step_of)(hash, last, half, g, 3);
  NAME(step_of)(hash, last, half, g, 4);
  NAME(step_of)(hash, last, half, g, 5);
  NAME(step_of)(hash, last, half, g, 6);
  NAME(step_of)(hash, last, half, g, 7);
  NAME(step_of)(hash, last, half, g, 8);
  NAME(step_of)(hash, last, half, g, 9);
}

INLINE void NAME(half_round)(struct NAME(hash) *hash, int last, int half) {
  NAME(mix)(hash, last, half, 0);
  NAME(mix)(hash, last, half, 1);
  NAME(mix)(hash, last, half, 2);
  NAME(mix)(hash, last, half, 3);
}

#if VECTORS == 2
#define HALF(h) NAME(half_round)(&hashes[0], last, h); NAME(half_round)(&hashes[1], last, h);
#else
#define HALF(h) NAME(half_round)(&hashes[0], last, h);
#endif
#define FINISH
#endif

#define ROUND(r) HALF(2 * (r)) HALF(2 * (r) + 1)

/*
 * With SCALARS, the general registers hash the last nonces of the sweep, one for each chunk of the vectors. If one of
 * them is a candidate, only vectors go on, because the first chunk with a candidate is wanted: OTHERS sweeps the rest.
 */
INLINE uint32_t NAME(sweep_words)(const struct job *job, uint32_t from, uint32_t to, int swept, int last) {
  const VECTOR bound = NAME(splat)(job->bound);
  struct NAME(hash) hashes[VECTORS];
  const uint32_t first = from;
#if SCALARS
  if (from >= to) return to;
  struct NAME(one) one;
  uint32_t beside = to - (to - from + CHUNK) / (CHUNK + 1);
  const uint32_t end = from + (to - beside) * CHUNK;
#else
  const uint32_t end = to;
#endif
  for (uint32_t n = 0; n < VECTORS; n++) {
    for (int i = 0; i < 16; i++) hashes[n].m[i] = NAME(splat)(job->message[i]);
    for (uint32_t lane = 0; lane < LANES; lane++) hashes[n].m[swept][lane] = from + n * LANES + lane;
  }
  for (; from < end; from += PASS) {
    for (int n = 0; n < VECTORS; n++) NAME(start)(&hashes[n], job);
#if SCALARS
    NAME(start_one)(&one, job, beside);
#endif
    ROUND(0) ROUND(1) ROUND(2) ROUND(3) ROUND(4) ROUND(5) ROUND(6) ROUND(7) ROUND(8) ROUND(9)
    FINISH
    for (int n = 0; n < VECTORS; n++) {
      if (WITHIN(NAME(top_word)(&hashes[n], job), bound)) return CHUNK_OF(from);
    }
#if SCALARS
    if (NAME(top_word_one)(&one, job) <= job->bound) return OTHERS(job, from + CHUNK, to);
    beside++;
#endif
    for (int n = 0; n < VECTORS; n++) hashes[n].m[swept] += PASS;
  }
  return to;
}

/* Networks with ten or more chains have work of 286 bytes. Other layouts share a loop that adds all words. */
TARGET uint32_t NAME(sweep)(const struct job *job, uint32_t from, uint32_t to) {
#if defined(OTHERS)
  return job->swept == 7 ? NAME(sweep_words)(job, from, to, 7, 7) : OTHERS(job, from, to);
#else
  return job->swept == 7 ? NAME(sweep_words)(job, from, to, 7, 7)
                         : NAME(sweep_words)(job, from, to, (int)job->swept, 15);
#endif
}

#undef VECTOR
#undef LANES
#undef PASS
#undef CHUNK
#undef CHUNK_OF
#undef INLINE
#undef BESIDE
#undef STEP
#undef HALF
#undef REST
#undef FINISH
#undef ROUND
#undef LAG
#undef VECTORS
#undef SCALARS
#undef OTHERS
