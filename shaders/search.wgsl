/*
 * Nonce search: BLAKE2s-256 (RFC 7693) of 286-byte work, one compression per nonce.
 *
 * The host has hashed the first 256 bytes. The shader hashes the last block: 30 bytes of work that end with the nonce,
 * and zero padding. Its sixteen words are m0..m15:
 *
 *                                                        changes from
 *     m0..m4          fields before the nonce            work to work
 *     low half of m5  the last of these fields           work to work
 *     high half of m5 nonce bits 0..15                   trip to trip
 *     m6              nonce bits 16..47                  lane to lane
 *     low half of m7  nonce bits 48..63                  batch to batch
 *     m8..m15         zero (additions left out)         never
 *
 * A batch is `lanes` times `trips` nonces: lane l has m6 = `first` + l * `stride`, modulo 2^32, and tries `trips` values
 * of m5, `step` apart. `stride` is 1 unless a pool has fixed low bits of m6.
 *
 * Round 1 mixes column 3 from m6 and m7, so each lane does that once for all its trips. Column 2 varies only with
 * m5. It is therefore the same for all lanes of a trip, and GPUs with a scalar unit compute it there.
 *
 * Params, 128 bytes:                               Result, 8 + 8 * MAX_RESULT_NONCES bytes:
 *       0  rows    u32[16]  state, see below             0  tag         u32  of the batch of this result
 *      64  words   u32[8]   m0..m7, m6: stride           4  candidates  u32  number found; the host sets 0
 *      96  bound   u32      top word of the target       8  nonces      u64[MAX_RESULT_NONCES] little-endian, unordered
 *     100  h7      u32      word 7 of the midstate
 *     104  tag     u32      copied to the result      If `candidates` exceeds MAX_RESULT_NONCES, nonces are
 *     108  first   u32      m6 of lane 0              missing, and the host searches the batch again in parts.
 *     112  lanes   u32      at most those of the dispatch
 *     116  trips   u32      at least 1
 *     120  step    u32      a multiple of 2^16
 *     124  one     u32      1, see SPLIT
 *
 * `rows` is the state v0..v15 after round 1 has mixed columns 0 and 1, and the first half of column 2. `words` contains
 * m5 of the first trip.
 */

override WORKGROUP: u32 = 64;

/**
 * Computes sums of three terms as a * one + b, then + x. NVIDIA GPUs run multiply-add on a pipe of its own, beside the
 * pipe that limits the other instructions. The compiler must not know that `one` is 1. Other GPUs are slower with it.
 */
override SPLIT: bool = false;

const MAX_RESULT_NONCES = 1024u;

struct Params {
  rows: array<vec4u, 4>,
  words: array<vec4u, 2>,
  bound: u32,
  h7: u32,
  tag: u32,
  first: u32,
  lanes: u32,
  trips: u32,
  step: u32,
  one: u32,
}

struct Result {
  tag: u32,
  candidates: atomic<u32>,
  nonces: array<vec2u, MAX_RESULT_NONCES>,
}

/** Rows of the 4 x 4 state v0..v15: a is v0..v3, and so on. */
struct State {
  a: vec4u,
  b: vec4u,
  c: vec4u,
  d: vec4u,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> result: Result;

@compute @workgroup_size(WORKGROUP)
fn search(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let lane = id.y * groups.x * WORKGROUP + id.x;
  if (lane == 0u) {
    result.tag = params.tag;
  }
  if (lane >= params.lanes) {
    return;
  }
  let m6 = params.first + lane * params.words[1].z;
  let m7 = params.words[1].w;
  let rows = State(params.rows[0], params.rows[1], params.rows[2], params.rows[3]);
  let column3 = columns(State(rows.a.wwww, rows.b.wwww, rows.c.wwww, rows.d.wwww), vec4u(m6), vec4u(m7));
  var m5 = params.words[1].y;
  // Counting down to zero shows Dawn that the loop ends. Dawn guards other loops with a 64-bit counter.
  for (var trips = params.trips; trips > 0u; trips--) {
    let column2 = half(State(rows.a.zzzz, rows.b.zzzz, rows.c.zzzz, rows.d.zzzz), vec4u(m5), 8u, 7u);
    let mixed = State(
      vec4u(rows.a.xy, column2.a.x, column3.a.x),
      vec4u(rows.b.xy, column2.b.x, column3.b.x),
      vec4u(rows.c.xy, column2.c.x, column3.c.x),
      vec4u(rows.d.xy, column2.d.x, column3.d.x),
    );
    if (top_word(mixed, m5, m6) <= params.bound) {
      append(m5, m6);
    }
    m5 += params.step;
  }
}

fn append(m5: u32, m6: u32) {
  let m7 = params.words[1].w;
  let slot = atomicAdd(&result.candidates, 1u);
  if (slot < MAX_RESULT_NONCES) {
    result.nonces[slot] = vec2u((m5 >> 16u) | (m6 << 16u), (m6 >> 16u) | (m7 << 16u));
  }
}

/**
 * Bytes 28..31 of the hash, little-endian, from the state after round 1 has mixed the columns (RFC 7693 section 3.2).
 * The compiler removes computations that word 7 does not need.
 */
fn top_word(mixed: State, m5: u32, m6: u32) -> u32 {
  let m0 = params.words[0].x;
  let m1 = params.words[0].y;
  let m2 = params.words[0].z;
  let m3 = params.words[0].w;
  let m4 = params.words[1].x;
  let m7 = params.words[1].w;

  var v = mixed;
  v = diagonals(v, vec4u(0, 0, 0, 0), vec4u(0, 0, 0, 0));
  v = columns(v, vec4u(0, m4, 0, 0), vec4u(0, 0, 0, m6));
  v = diagonals(v, vec4u(m1, m0, 0, m5), vec4u(0, m2, m7, m3));
  v = columns(v, vec4u(0, 0, m5, 0), vec4u(0, m0, m2, 0));
  v = diagonals(v, vec4u(0, m3, m7, 0), vec4u(0, m6, m1, m4));
  v = columns(v, vec4u(m7, m3, 0, 0), vec4u(0, m1, 0, 0));
  v = diagonals(v, vec4u(m2, m5, m4, 0), vec4u(m6, 0, m0, 0));
  v = columns(v, vec4u(0, m5, m2, 0), vec4u(m0, m7, m4, 0));
  v = diagonals(v, vec4u(0, 0, m6, m3), vec4u(m1, 0, 0, 0));
  v = columns(v, vec4u(m2, m6, m0, 0), vec4u(0, 0, 0, m3));
  v = diagonals(v, vec4u(m4, m7, 0, m1), vec4u(0, m5, 0, 0));
  v = columns(v, vec4u(0, m1, 0, m4), vec4u(m5, 0, 0, 0));
  v = diagonals(v, vec4u(m0, m6, 0, 0), vec4u(m7, m3, m2, 0));
  v = columns(v, vec4u(0, m7, 0, m3), vec4u(0, 0, m1, 0));
  v = diagonals(v, vec4u(m5, 0, 0, m2), vec4u(m0, m4, m6, 0));
  v = columns(v, vec4u(m6, 0, 0, m0), vec4u(0, 0, m3, 0));
  v = diagonals(v, vec4u(0, 0, m1, 0), vec4u(m2, m7, m4, m5));
  v = columns(v, vec4u(0, 0, m7, m1), vec4u(m2, m4, m6, m5));
  v = diagonals(v, vec4u(0, 0, m3, 0), vec4u(0, 0, 0, m0));
  return params.h7 ^ v.b.w ^ v.d.w;
}

/** Mixing function G (section 3.1) on all four columns, each with one word of `x` and one of `y`. */
fn columns(v: State, x: vec4u, y: vec4u) -> State {
  return half(half(v, x, 16u, 12u), y, 8u, 7u);
}

/** G on the four diagonals: rotating row i by i turns them into columns. */
fn diagonals(v: State, x: vec4u, y: vec4u) -> State {
  let turned = columns(State(v.a, v.b.yzwx, v.c.zwxy, v.d.wxyz), x, y);
  return State(turned.a, turned.b.wxyz, turned.c.zwxy, turned.d.yzwx);
}

/** One half of G: the first half rotates by 16 and 12, the second by 8 and 7. */
fn half(v: State, words: vec4u, bits_d: u32, bits_b: u32) -> State {
  let a = select(v.a, v.a * params.one, SPLIT) + v.b + words;
  let d = rotate(v.d ^ a, bits_d);
  let c = v.c + d;
  let b = rotate(v.b ^ c, bits_b);
  return State(a, b, c, d);
}

/**
 * Rotates right. The select always yields `bits`, but hides from Mesa that the distance is constant: Mesa compiles a
 * constant rotation to two or three instructions, and this form to one. Other compilers see through it.
 */
fn rotate(x: vec4u, bits: u32) -> vec4u {
  let distance = select(bits, params.tag, false);
  return (x >> vec4u(distance)) | (x << vec4u(32u - distance));
}
