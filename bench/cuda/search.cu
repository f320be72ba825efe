/*
 * The search of shaders/search.wgsl by hand in CUDA, for comparison: the same parameters, the same candidates.
 *
 *     nvcc -O3 -arch=native -o search search.cu
 *     search SECONDS < params     searches batch after batch, each `lanes` middles further, and prints one line of
 *                                 JSON: device, multiprocessors, clock, nonces tried, milliseconds, and the candidates
 *                                 of batch 0 as pairs of low and middle word
 *     search host < params        one batch on the processor, without a GPU: checks the arithmetic
 *
 * `params` is the uniform buffer of the shader, 128 bytes. The rounds are spelled out by macros, so that words 8 to 15,
 * which are zero, take no addition; rotations are one funnel shift.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define MAX_RESULT_NONCES 1024
#define LANES 256

struct Params {
  uint32_t v[16], m[8], bound, h7, tag, first, lanes, trips, step, one;
};

struct Result {
  uint32_t found, nonces[MAX_RESULT_NONCES][2];
};

__host__ __device__ static inline uint32_t rotate(uint32_t x, int bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(x, x, bits);
#else
  return (x >> bits) | (x << (32 - bits));
#endif
}

#define HALF(a, b, c, d, word, turn_d, turn_b) \
  a = a + b word;                              \
  d = rotate(d ^ a, turn_d);                   \
  c = c + d;                                   \
  b = rotate(b ^ c, turn_b);
#define G(a, b, c, d, x, y) HALF(v##a, v##b, v##c, v##d, x, 16, 12) HALF(v##a, v##b, v##c, v##d, y, 8, 7)
/* Words by name, as additions; those of the padding add nothing. */
#define M0 +m0
#define M1 +m1
#define M2 +m2
#define M3 +m3
#define M4 +m4
#define M5 +m5
#define M6 +m6
#define M7 +m7
#define Z
#define COLUMNS(x0, y0, x1, y1, x2, y2, x3, y3) \
  G(0, 4, 8, 12, x0, y0) G(1, 5, 9, 13, x1, y1) G(2, 6, 10, 14, x2, y2) G(3, 7, 11, 15, x3, y3)
#define DIAGONALS(x0, y0, x1, y1, x2, y2, x3, y3) \
  G(0, 5, 10, 15, x0, y0) G(1, 6, 11, 12, x1, y1) G(2, 7, 8, 13, x2, y2) G(3, 4, 9, 14, x3, y3)

struct Column {
  uint32_t a, b, c, d;
};

/* Column 3 of round 1, the same for all trips of a lane. */
__host__ __device__ static inline Column mix_column3(const Params &p, uint32_t m6) {
  const uint32_t m7 = p.m[7];
  uint32_t v3 = p.v[3], v7 = p.v[7], v11 = p.v[11], v15 = p.v[15];
  G(3, 7, 11, 15, M6, M7)
  return {v3, v7, v11, v15};
}

/* Bytes 28..31 of the hash. RFC 7693 section 3.2, the message schedule of section 2.7. */
__host__ __device__ static inline uint32_t top_word(const Params &p, const Column &column3, uint32_t m5, uint32_t m6) {
  const uint32_t m0 = p.m[0], m1 = p.m[1], m2 = p.m[2], m3 = p.m[3], m4 = p.m[4], m7 = p.m[7];
  uint32_t v0 = p.v[0], v1 = p.v[1], v2 = p.v[2], v3 = column3.a, v4 = p.v[4], v5 = p.v[5], v6 = p.v[6], v7 = column3.b;
  uint32_t v8 = p.v[8], v9 = p.v[9], v10 = p.v[10], v11 = column3.c;
  uint32_t v12 = p.v[12], v13 = p.v[13], v14 = p.v[14], v15 = column3.d;
  HALF(v2, v6, v10, v14, M5, 8, 7)
  DIAGONALS(Z, Z, Z, Z, Z, Z, Z, Z)
  COLUMNS(Z, Z, M4, Z, Z, Z, Z, M6)
  DIAGONALS(M1, Z, M0, M2, Z, M7, M5, M3)
  COLUMNS(Z, Z, Z, M0, M5, M2, Z, Z)
  DIAGONALS(Z, Z, M3, M6, M7, M1, Z, M4)
  COLUMNS(M7, Z, M3, M1, Z, Z, Z, Z)
  DIAGONALS(M2, M6, M5, Z, M4, M0, Z, Z)
  COLUMNS(Z, M0, M5, M7, M2, M4, Z, Z)
  DIAGONALS(Z, M1, Z, Z, M6, Z, M3, Z)
  COLUMNS(M2, Z, M6, Z, M0, Z, Z, M3)
  DIAGONALS(M4, Z, M7, M5, Z, Z, M1, Z)
  COLUMNS(Z, M5, M1, Z, Z, Z, M4, Z)
  DIAGONALS(M0, M7, M6, M3, Z, M2, Z, Z)
  COLUMNS(Z, Z, M7, Z, Z, M1, M3, Z)
  DIAGONALS(M5, M0, Z, M4, Z, M6, M2, Z)
  COLUMNS(M6, Z, Z, Z, Z, M3, M0, Z)
  DIAGONALS(Z, M2, Z, M7, M1, M4, Z, M5)
  COLUMNS(Z, M2, Z, M4, M7, M6, M1, M5)
  DIAGONALS(Z, Z, Z, Z, M3, Z, Z, M0)
  return p.h7 ^ v7 ^ v15;
}

__host__ __device__ static inline void search_lane(const Params &p, uint32_t lane, Result *result) {
  const uint32_t m6 = p.first + lane;
  const Column column3 = mix_column3(p, m6);
  uint32_t m5 = p.m[5];
#pragma unroll 1
  for (uint32_t trips = p.trips; trips > 0; trips--, m5 += p.step) {
    if (top_word(p, column3, m5, m6) > p.bound) continue;
#ifdef __CUDA_ARCH__
    const uint32_t slot = atomicAdd(&result->found, 1u);
#else
    const uint32_t slot = result->found++;
#endif
    if (slot >= MAX_RESULT_NONCES) continue;
    result->nonces[slot][0] = m5 >> 16;
    result->nonces[slot][1] = m6;
  }
}

__global__ void __launch_bounds__(LANES) search(const __grid_constant__ Params p, Result *result) {
  const uint32_t lane = blockIdx.x * LANES + threadIdx.x;
  if (lane < p.lanes) search_lane(p, lane, result);
}

#define CHECK(call)                                                    \
  if (cudaError_t error = (call)) {                                    \
    fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));     \
    exit(1);                                                           \
  }

static void print(const char *device, int processors, int kilohertz, double nonces, double ms, const Result &first) {
  printf("{\"device\":\"%s\",\"multiprocessors\":%d,\"clockMHz\":%d,\"nonces\":%.0f,\"ms\":%.3f,\"found\":%u,\"candidates\":[",
         device, processors, kilohertz / 1000, nonces, ms, first.found);
  const uint32_t listed = first.found < MAX_RESULT_NONCES ? first.found : MAX_RESULT_NONCES;
  for (uint32_t i = 0; i < listed; i++) printf("%s[%u,%u]", i == 0 ? "" : ",", first.nonces[i][0], first.nonces[i][1]);
  printf("]}\n");
}

static double nonces_in(const Params &params) { return (double)params.lanes * params.trips; }

static void on_host(const Params &params) {
  Result result = {};
  for (uint32_t lane = 0; lane < params.lanes; lane++) search_lane(params, lane, &result);
  print("host", 0, 0, nonces_in(params), 0, result);
}

static void on_device(Params params, double seconds) {
  cudaDeviceProp properties;
  int kilohertz = 0;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  Result *device_result, first = {}, *later;
  CHECK(cudaMalloc(&device_result, 2 * sizeof(Result)));
  CHECK(cudaMemset(device_result, 0, 2 * sizeof(Result)));
  later = device_result + 1;
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  const uint32_t blocks = (params.lanes + LANES - 1) / LANES;
  search<<<blocks, LANES>>>(params, device_result);
  CHECK(cudaMemcpy(&first, device_result, sizeof first, cudaMemcpyDeviceToHost));
  float ms = 0;
  double nonces = 0;
  CHECK(cudaEventRecord(start));
  while (ms < 1000 * seconds) {
    for (int batch = 0; batch < 4; batch++, nonces += nonces_in(params)) {
      params.first += params.lanes;
      search<<<blocks, LANES>>>(params, later);
    }
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, start, end));
  }
  CHECK(cudaGetLastError());
  print(properties.name, properties.multiProcessorCount, kilohertz, nonces, ms, first);
}

int main(int count, char **arguments) {
  Params params;
  static_assert(sizeof params == 128, "the uniform buffer of the shader");
  if (count != 2 || fread(&params, sizeof params, 1, stdin) != 1) {
    fprintf(stderr, "usage: search SECONDS|host < params\n");
    return 2;
  }
  if (strcmp(arguments[1], "host") == 0) on_host(params);
  else on_device(params, atof(arguments[1]));
  return 0;
}
