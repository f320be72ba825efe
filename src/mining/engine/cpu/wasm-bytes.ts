/**
 * The part of the WebAssembly binary format (core specification, section 5, and its SIMD instructions) that one kernel
 * needs. It covers instructions as byte lists, and a module with one exported function and one page of memory.
 */

export type Code = readonly number[]

/** Concatenates instructions. */
export function code(...parts: readonly Code[]): Code {
  const bytes: number[] = []
  // parts.flat() would double the time to generate a kernel.
  for (const part of parts) for (const byte of part) bytes.push(byte)
  return bytes
}

/** LEB128. */
function encodeUnsigned(value: number): Code {
  const bytes: number[] = []
  for (let rest = value >>> 0; ; ) {
    const low = rest & 0x7f
    rest >>>= 7
    if (rest === 0) return [...bytes, low]
    bytes.push(low | 0x80)
  }
}

/** LEB128 of an i32. It ends where only copies of the sign bit remain. */
function encodeSigned(value: number): Code {
  const bytes: number[] = []
  for (let rest = value | 0; ; ) {
    const low = rest & 0x7f
    rest >>= 7
    if (rest === (low & 0x40 ? -1 : 0)) return [...bytes, low]
    bytes.push(low | 0x80)
  }
}

function simd(opcode: number): Code {
  return [0xfd, ...encodeUnsigned(opcode)]
}

/** Memory addresses are constant offsets from a base of zero. Alignments are exponents of two. */
const BASE: Code = [0x41, 0]
const ALIGN_4 = 2
const ALIGN_16 = 4

const EMPTY_BLOCK = 0x40

export const control = {
  loop: [0x03, EMPTY_BLOCK],
  if: [0x04, EMPTY_BLOCK],
  end: [0x0b],
  return: [0x0f],
  /** To the start of the innermost loop. */
  continueIf: [0x0d, 0],
} as const

export const local = {
  get: (index: number): Code => [0x20, ...encodeUnsigned(index)],
  set: (index: number): Code => [0x21, ...encodeUnsigned(index)],
  tee: (index: number): Code => [0x22, ...encodeUnsigned(index)],
}

export const i32 = {
  const: (value: number): Code => [0x41, ...encodeSigned(value)],
  load: (address: number): Code => [...BASE, 0x28, ALIGN_4, ...encodeUnsigned(address)],
  ltU: [0x49],
  geU: [0x4f],
  add: [0x6a],
  and: [0x71],
  or: [0x72],
  xor: [0x73],
  shl: [0x74],
  rotr: [0x78],
} as const

export const v128 = {
  const: (bytes: Code): Code => [...simd(0x0c), ...bytes],
  load: (address: number): Code => [...BASE, ...simd(0x00), ALIGN_16, ...encodeUnsigned(address)],
  loadSplat32: (address: number): Code => [...BASE, ...simd(0x09), ALIGN_4, ...encodeUnsigned(address)],
  store: (address: number, value: Code): Code => [
    ...BASE,
    ...value,
    ...simd(0x0b),
    ALIGN_16,
    ...encodeUnsigned(address),
  ],
  or: simd(0x50),
  xor: simd(0x51),
  anyTrue: simd(0x53),
}

export const i8x16 = {
  swizzle: simd(0x0e),
  /** Relaxed SIMD: needs V8 11.4, so Node 20 does not have it. */
  relaxedSwizzle: simd(0x100),
}

export const i32x4 = {
  /** Four lanes below 128. */
  const: (lanes: readonly number[]): Code => v128.const(lanes.flatMap((lane) => [lane, 0, 0, 0])),
  splat: simd(0x11),
  leU: simd(0x3e),
  shl: simd(0xab),
  shrU: simd(0xad),
  add: simd(0xae),
}

const TYPE_I32 = 0x7f
const TYPE_V128 = 0x7b

interface FunctionShape {
  readonly name: string
  /**
   * Number of i32 parameters; the result is an i32 too. Locals are numbered after them: first the i32, then the v128.
   */
  readonly parameters: number
  readonly i32Locals: number
  readonly v128Locals: number
  readonly body: Code
}

/** `\\0asm`, then the version of the binary format. */
const MAGIC = [0x00, 0x61, 0x73, 0x6d]
const VERSION = [0x01, 0x00, 0x00, 0x00]

/** A module that exports `shape` under its name, and one page of memory as `memory`. */
export function moduleBytes(shape: FunctionShape): Uint8Array<ArrayBuffer> {
  const locals = [
    [...encodeUnsigned(shape.i32Locals), TYPE_I32],
    [...encodeUnsigned(shape.v128Locals), TYPE_V128],
  ]
  const body = code(vector(locals), shape.body, control.end)
  const parameters = Array.from({ length: shape.parameters }, () => [TYPE_I32])
  return Uint8Array.from([
    ...MAGIC,
    ...VERSION,
    ...section(1, [[0x60, ...vector(parameters), ...vector([[TYPE_I32]])]]),
    ...section(3, [[0]]), // function 0 has type 0
    ...section(5, [[0x00, 1]]), // memory 0: at least one page
    ...section(7, [
      [...text('memory'), 0x02, 0],
      [...text(shape.name), 0x00, 0],
    ]),
    ...section(10, [code(encodeUnsigned(body.length), body)]),
  ])
}

function vector(items: readonly Code[]): Code {
  return code(encodeUnsigned(items.length), ...items)
}

function section(id: number, items: readonly Code[]): Code {
  const content = vector(items)
  return [id, ...encodeUnsigned(content.length), ...content]
}

function text(ascii: string): Code {
  return [...encodeUnsigned(ascii.length), ...Buffer.from(ascii, 'ascii')]
}
