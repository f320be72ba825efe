/*
 * The sweep for vectors of one width, with a nonce in each 32-bit lane. kernel.c includes this file once per width,
 * with
 *
 *     WIDTH          suffix of the names of this width
 *     TARGET         attribute that enables its instructions
 *     VECTOR_BYTES   bytes of a vector
 *     ROTATE(x, n)   the lanes of x, each rotated right by n bits
 *     WITHIN(x, y)   whether some lane of x is <= the same lane of y, unsigned
 *
 * All functions are inlined into one loop, in which every index is constant. So the compiler itself removes work that
 * is not needed for each nonce (see operations.ts). It moves operations that do not depend on the swept word out of the
 * loop: nearly all of round 1. It drops those that no result depends on: much of the last round. It would not drop
 * additions of zero message words, hence `last`.
 *
 * Two vectors alternate every half round, because the processor would stall with only one. Relative speed on Zen 4 with
 * gcc 12, for AVX-512, AVX2 and SSE4.1:
 *
 *     one vector                                    0.88  0.87  0.90
 *     alternating every G                           1.00  1.01  0.91
 *     alternating every round                       0.98  1.01  0.92
 *     the four G of half a round step by step       1.00  0.98  0.89
 */

#define VECTOR NAME(vector)
#define LANES (VECTOR_BYTES / 4)
#define CHUNK (2 * LANES)
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

/* RFC 7693 section 3.1, mixing function G, with message words x and y. Words after `last` are zero. */
INLINE void NAME(mix)(struct NAME(hash) *hash, int last, int x, int y, int a, int b, int c, int d) {
  VECTOR *v = hash->v, *m = hash->m;
  if (x <= last) v[a] += m[x];
  v[a] += v[b];
  v[d] = ROTATE(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = ROTATE(v[b] ^ v[c], 12);
  if (y <= last) v[a] += m[y];
  v[a] += v[b];
  v[d] = ROTATE(v[d] ^ v[a], 8);
  v[c] += v[d];
  v[b] = ROTATE(v[b] ^ v[c], 7);
}

INLINE void NAME(columns)(struct NAME(hash) *hash, int last, const uint8_t sigma[16]) {
  NAME(mix)(hash, last, sigma[0], sigma[1], 0, 4, 8, 12);
  NAME(mix)(hash, last, sigma[2], sigma[3], 1, 5, 9, 13);
  NAME(mix)(hash, last, sigma[4], sigma[5], 2, 6, 10, 14);
  NAME(mix)(hash, last, sigma[6], sigma[7], 3, 7, 11, 15);
}

INLINE void NAME(diagonals)(struct NAME(hash) *hash, int last, const uint8_t sigma[16]) {
  NAME(mix)(hash, last, sigma[8], sigma[9], 0, 5, 10, 15);
  NAME(mix)(hash, last, sigma[10], sigma[11], 1, 6, 11, 12);
  NAME(mix)(hash, last, sigma[12], sigma[13], 2, 7, 8, 13);
  NAME(mix)(hash, last, sigma[14], sigma[15], 3, 4, 9, 14);
}

INLINE void NAME(round)(struct NAME(hash) hashes[2], int last, const uint8_t sigma[16]) {
  NAME(columns)(&hashes[0], last, sigma);
  NAME(columns)(&hashes[1], last, sigma);
  NAME(diagonals)(&hashes[0], last, sigma);
  NAME(diagonals)(&hashes[1], last, sigma);
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

INLINE uint32_t NAME(sweep_words)(const struct job *job, uint32_t from, uint32_t to, int swept, int last) {
  const VECTOR bound = NAME(splat)(job->bound);
  struct NAME(hash) hashes[2];
  for (int i = 0; i < 16; i++) hashes[0].m[i] = hashes[1].m[i] = NAME(splat)(job->message[i]);
  for (uint32_t lane = 0; lane < LANES; lane++) {
    hashes[0].m[swept][lane] = from + lane;
    hashes[1].m[swept][lane] = from + LANES + lane;
  }
  for (; from < to; from += CHUNK) {
    NAME(start)(&hashes[0], job);
    NAME(start)(&hashes[1], job);
    NAME(round)(hashes, last, SIGMA[0]);
    NAME(round)(hashes, last, SIGMA[1]);
    NAME(round)(hashes, last, SIGMA[2]);
    NAME(round)(hashes, last, SIGMA[3]);
    NAME(round)(hashes, last, SIGMA[4]);
    NAME(round)(hashes, last, SIGMA[5]);
    NAME(round)(hashes, last, SIGMA[6]);
    NAME(round)(hashes, last, SIGMA[7]);
    NAME(round)(hashes, last, SIGMA[8]);
    NAME(round)(hashes, last, SIGMA[9]);
    if (WITHIN(NAME(top_word)(&hashes[0], job), bound)) return from;
    if (WITHIN(NAME(top_word)(&hashes[1], job), bound)) return from;
    hashes[0].m[swept] += CHUNK;
    hashes[1].m[swept] += CHUNK;
  }
  return to;
}

/* Networks with ten or more chains have work of 286 bytes. Other layouts share a loop that adds all words. */
TARGET static uint32_t NAME(sweep)(const struct job *job, uint32_t from, uint32_t to) {
  return job->swept == 7 ? NAME(sweep_words)(job, from, to, 7, 7)
                         : NAME(sweep_words)(job, from, to, (int)job->swept, 15);
}

#undef VECTOR
#undef LANES
#undef CHUNK
#undef INLINE
#undef WIDTH
#undef TARGET
#undef VECTOR_BYTES
#undef ROTATE
#undef WITHIN
