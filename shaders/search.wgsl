/*
 * Nonce search: BLAKE2s-256 (RFC 7693) of 286-byte work, one compression a nonce.
 *
 * The host has hashed the first 256 bytes. What is left is the last block: 30 bytes of work, the nonce at their end,
 * and zero padding. Its sixteen words are m0..m15:
 *
 *     m0..m4 and the low half of m5    fields before the nonce, the same for all nonces of the work
 *     high half of m5                  nonce bits 0..15, the same for all nonces of a batch
 *     m6                               nonce bits 16..47: `first` plus the index in the batch, modulo 2^32
 *     low half of m7                   nonce bits 48..63, the same for all nonces of a batch
 *     m8..m15                          zero: the rounds below have a 0 in their place, and the compiler adds nothing
 *
 * Lane l of a dispatch of n lanes, in one or two dimensions, tries the indices l, l + n, l + 2n, ... below `count`.
 * So the host chooses by the size of the dispatch how often the loop runs, and `count` may be anything up to 2^30.
 *
 * Params, 128 bytes:                               Result, 8 + 8 * MAX_RESULT_NONCES bytes:
 *       0  rows    u32[16]  state, see below             0  tag         u32  of the batch whose result this is
 *      64  words   u32[8]   m0..m7, m6 unused            4  candidates  u32  found, the host has set it to 0
 *      96  bound   u32      top word of the target       8  nonces      u64[MAX_RESULT_NONCES] little-endian, unordered
 *     100  h7      u32      word 7 of the midstate
 *     104  tag     u32      copied to the result      `candidates` may exceed MAX_RESULT_NONCES. Then nonces are
 *     108  first   u32      m6 of index 0             missing, and the host searches the batch again in parts.
 *     112  count   u32      nonces in the batch
 *
 * `rows` is the state v0..v15 in which round 1 has mixed columns 0 to 2 already: m6 enters in column 3.
 */

override WORKGROUP: u32 = 64;

const MAX_RESULT_NONCES = 1024u;

struct Params {
  rows: array<vec4u, 4>,
  words: array<vec4u, 2>,
  bound: u32,
  h7: u32,
  tag: u32,
  first: u32,
  count: u32,
}

struct Result {
  tag: u32,
  candidates: atomic<u32>,
  nonces: array<vec2u, MAX_RESULT_NONCES>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> result: Result;

@compute @workgroup_size(WORKGROUP)
fn search(@builtin(global_invocation_id) lane: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let width = groups.x * WORKGROUP;
  let lanes = groups.y * width;
  let first_index = lane.y * width + lane.x;
  if (first_index == 0u) {
    result.tag = params.tag;
  }
  for (var index = first_index; index < params.count; index += lanes) {
    let m6 = params.first + index;
    if (top_word(m6) <= params.bound) {
      append(m6);
    }
  }
}

fn append(m6: u32) {
  let m5 = params.words[1].y;
  let m7 = params.words[1].w;
  let slot = atomicAdd(&result.candidates, 1u);
  if (slot < MAX_RESULT_NONCES) {
    result.nonces[slot] = vec2u((m5 >> 16u) | (m6 << 16u), (m6 >> 16u) | (m7 << 16u));
  }
}

/** Rows of the 4 x 4 state v0..v15: a is v0..v3, and so on. */
struct State {
  a: vec4u,
  b: vec4u,
  c: vec4u,
  d: vec4u,
}

/** Bytes 28..31 of the hash, little-endian. RFC 7693 section 3.2; the compiler drops what word 7 does not need. */
fn top_word(m6: u32) -> u32 {
  let m0 = params.words[0].x;
  let m1 = params.words[0].y;
  let m2 = params.words[0].z;
  let m3 = params.words[0].w;
  let m4 = params.words[1].x;
  let m5 = params.words[1].y;
  let m7 = params.words[1].w;

  var v = last_column(m6, m7);
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

/** The column of round 1 that the host has not computed: G(v3, v7, v11, v15) with m6 and m7. */
fn last_column(m6: u32, m7: u32) -> State {
  var v = State(params.rows[0], params.rows[1], params.rows[2], params.rows[3]);
  let column = columns(State(v.a.wwww, v.b.wwww, v.c.wwww, v.d.wwww), vec4u(m6), vec4u(m7));
  v.a.w = column.a.x;
  v.b.w = column.b.x;
  v.c.w = column.c.x;
  v.d.w = column.d.x;
  return v;
}

/** The mixing function G (section 3.1) on all four columns, with a word of `x` and one of `y` each. */
fn columns(v: State, x: vec4u, y: vec4u) -> State {
  var a = v.a + v.b + x;
  var d = rotate(v.d ^ a, 16u);
  var c = v.c + d;
  var b = rotate(v.b ^ c, 12u);
  a = a + b + y;
  d = rotate(d ^ a, 8u);
  c = c + d;
  b = rotate(b ^ c, 7u);
  return State(a, b, c, d);
}

/** G on the four diagonals: columns once row i is turned by i. */
fn diagonals(v: State, x: vec4u, y: vec4u) -> State {
  let turned = columns(State(v.a, v.b.yzwx, v.c.zwxy, v.d.wxyz), x, y);
  return State(turned.a, turned.b.wxyz, turned.c.zwxy, turned.d.yzwx);
}

fn rotate(x: vec4u, bits: u32) -> vec4u {
  return (x >> vec4u(bits)) | (x << vec4u(32u - bits));
}
