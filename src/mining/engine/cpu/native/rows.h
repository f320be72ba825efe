/* Written by npm run assembly (scripts/assembly) from the graph in operations.ts. See assembly.h. */
#define MASK16_ROW 0
#define MASK8_ROW 1
#define SWEPT_ROW 2
#define WORDS_ROW 29
#define TOP_ROW 3
#define TOP_WORD 4
#define BESIDE_WORD 5
#define UNIFORM_ROWS \
  const uint32_t u0 = job->midstate[0] + job->message[0]; \
  const uint32_t u1 = u0 + job->midstate[4]; \
  const uint32_t u2 = job->midstate[1] + job->message[2]; \
  const uint32_t u3 = u2 + job->midstate[5]; \
  const uint32_t u4 = 0x510e5361u ^ u1; \
  const uint32_t u5 = SHIFTED(u4, 16); \
  const uint32_t u6 = 0x9b05688cu ^ u3; \
  const uint32_t u7 = SHIFTED(u6, 16); \
  const uint32_t u8 = 0x6a09e667u + u5; \
  const uint32_t u9 = 0xbb67ae85u + u7; \
  const uint32_t u10 = job->midstate[4] ^ u8; \
  const uint32_t u11 = SHIFTED(u10, 12); \
  const uint32_t u12 = job->midstate[5] ^ u9; \
  const uint32_t u13 = SHIFTED(u12, 12); \
  const uint32_t u14 = u1 + job->message[1]; \
  const uint32_t u15 = u14 + u11; \
  const uint32_t u16 = u3 + job->message[3]; \
  const uint32_t u17 = u16 + u13; \
  const uint32_t u18 = u5 ^ u15; \
  const uint32_t u19 = SHIFTED(u18, 8); \
  const uint32_t u20 = u7 ^ u17; \
  const uint32_t u21 = SHIFTED(u20, 8); \
  const uint32_t u22 = u8 + u19; \
  const uint32_t u23 = u9 + u21; \
  const uint32_t u24 = u11 ^ u22; \
  const uint32_t u25 = SHIFTED(u24, 7); \
  const uint32_t u26 = u13 ^ u23; \
  const uint32_t u27 = SHIFTED(u26, 7); \
  const uint32_t u28 = job->midstate[2] + job->message[4]; \
  const uint32_t u29 = u28 + job->midstate[6]; \
  const uint32_t u30 = job->midstate[3] + job->message[6]; \
  const uint32_t u31 = u30 + job->midstate[7]; \
  const uint32_t u32 = 0xe07c2654u ^ u29; \
  const uint32_t u33 = SHIFTED(u32, 16); \
  const uint32_t u34 = 0x5be0cd19u ^ u31; \
  const uint32_t u35 = SHIFTED(u34, 16); \
  const uint32_t u36 = 0x3c6ef372u + u33; \
  const uint32_t u37 = 0xa54ff53au + u35; \
  const uint32_t u38 = job->midstate[6] ^ u36; \
  const uint32_t u39 = SHIFTED(u38, 12); \
  const uint32_t u40 = job->midstate[7] ^ u37; \
  const uint32_t u41 = SHIFTED(u40, 12); \
  const uint32_t u42 = u29 + job->message[5]; \
  const uint32_t u43 = u42 + u39; \
  const uint32_t u44 = u31 + u41; \
  const uint32_t u45 = u33 ^ u43; \
  const uint32_t u46 = SHIFTED(u45, 8); \
  const uint32_t u47 = u36 + u46; \
  const uint32_t u48 = u39 ^ u47; \
  const uint32_t u49 = SHIFTED(u48, 7); \
  const uint32_t u50 = u15 + u27; \
  const uint32_t u51 = u17 + u49; \
  const uint32_t u52 = u19 ^ u51; \
  const uint32_t u53 = SHIFTED(u52, 16); \
  UNIFORM(5, u44) \
  UNIFORM(6, u35) \
  UNIFORM(7, u37) \
  UNIFORM(8, u41) \
  UNIFORM(9, u50) \
  UNIFORM(10, u47) \
  UNIFORM(11, u53) \
  UNIFORM(12, u27) \
  UNIFORM(13, u49) \
  UNIFORM(14, u51) \
  UNIFORM(15, u43) \
  UNIFORM(16, u25) \
  UNIFORM(17, u21) \
  UNIFORM(18, u46) \
  UNIFORM(19, u22) \
  UNIFORM(20, u23) \
  UNIFORM(21, job->message[4]) \
  UNIFORM(22, job->message[6]) \
  UNIFORM(23, job->message[1]) \
  UNIFORM(24, job->message[0]) \
  UNIFORM(25, job->message[2]) \
  UNIFORM(26, job->message[5]) \
  UNIFORM(27, job->message[3]) \
  UNIFORM(28, job->midstate[7])
