/**
 * Compiles the shader with RADV, Mesa's driver for AMD cards. No card is needed: libamdgpu_noop_drm_shim emulates the
 * kernel interface of any known model. Nothing runs; the driver only compiles and prints its code.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { libraryFile, MIN_MESA, vulkanManifest } from './mesa.ts'

const CHILD = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './radv-child.ts' : './radv-child.js', import.meta.url),
)
const SHIM = 'libamdgpu_noop_drm_shim.so'
const MAX_COMPILE_MS = 60_000
const MAX_OUTPUT_BYTES = 2 ** 26

/** Environment in which Dawn finds the driver, without the target. */
export type RadvEnv = Readonly<Record<string, string>>

/** Statistics of the compiled shader. Instructions are those that one nonce passes in the loop; see instructionsOf. */
export interface RadvCode {
  readonly vector: number
  readonly scalar: number
  /** Vector registers. */
  readonly registers: number
  /** Concurrent wavefronts per SIMD unit, as the driver reports them. */
  readonly waves: number
  /** Spilled registers. */
  readonly spilled: number
  /** Name and version of the driver. */
  readonly driver: string
}

/** @returns the environment, or a sentence about the missing part */
export function findRadv(): RadvEnv | string {
  const manifest = vulkanManifest('radeon')
  if (manifest === null) return `no RADV driver: Mesa ${MIN_MESA} or newer (mesa-vulkan-drivers) is not installed`
  const shim = libraryFile(SHIM)
  if (shim === null) return `no ${SHIM}: the package mesa-drm-shim is not installed`
  const env = {
    LD_PRELOAD: [shim, process.env.LD_PRELOAD].filter((path) => path).join(':'),
    VK_ICD_FILENAMES: manifest,
    VK_DRIVER_FILES: manifest,
    MESA_SHADER_CACHE_DISABLE: 'true',
    RADV_DEBUG: 'nocache,asm,shaderstats',
  }
  const { driver, problem } = compile(env, 'navi21', '')
  const version = Number(/Mesa (\d+)/.exec(driver)?.[1])
  if (version >= MIN_MESA) return env
  return driver === '' ? `RADV does not open: ${problem}` : `Mesa ${MIN_MESA} or newer is needed: this is ${driver}`
}

/** Compiles the shader for a card such as `navi21`. @returns a sentence if the driver or the shim cannot */
export function compileFor(env: RadvEnv, target: string, shader: string): RadvCode | string {
  const { driver, problem, output } = compile(env, target, shader)
  if (problem !== null) return problem
  // The output may contain the driver's own shaders. Ours is the longest.
  const [dump] = output.split(/^(?=BB0:)/m).sort((a, b) => b.length - a.length)
  const instructions = instructionsOf(dump)
  const statistic = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(dump)?.[1])
  const code = {
    vector: instructions.filter((name) => name.startsWith('v_')).length,
    scalar: instructions.filter((name) => /^s_(?!delay|wait|clause|nop)/.test(name)).length,
    registers: statistic('VGPRs'),
    waves: statistic('Subgroups per SIMD'),
    spilled: statistic('Spilled VGPRs') + statistic('Spilled SGPRs'),
    driver,
  }
  const isComplete = code.vector > 0 && Number.isFinite(code.registers + code.waves + code.spilled)
  return isComplete ? code : `the output of ${driver} is not understood`
}

/** Instruction names on a nonce's path: the longest loop without skipped blocks. */
function instructionsOf(dump: string): string[] {
  const code: { readonly name: string; readonly to: string }[] = []
  const blocks = new Map<string, number>()
  for (const line of dump.split('\n')) {
    const block = /^(BB\d+):/.exec(line)
    // Format: assembly, a semicolon, the bytes.
    const instruction = /^\s+([a-z]\w+)\s*(.*?)\s*;/.exec(line)
    if (block) blocks.set(block[1], code.length)
    else if (instruction) code.push({ name: instruction[1], to: /BB\d+/.exec(instruction[2])?.[0] ?? '' })
  }
  const targets = code.map(({ name, to }) => (/branch/.test(name) ? blocks.get(to) : undefined))
  let [first, last] = [0, -1]
  for (const [at, to] of targets.entries()) {
    if (to !== undefined && to <= at && at - to > last - first) [first, last] = [to, at]
  }
  const passed: string[] = []
  for (let at = first; at <= last; at++) {
    passed.push(code[at].name)
    const to = targets[at] ?? 0
    // Skip blocks that run only when a lane has a candidate, one nonce in millions.
    if (code[at].name.endsWith('branch_execz') && to > at && to <= last) at = to - 1
  }
  return passed
}

interface Compilation {
  /** Name of the driver; empty if it failed before. */
  readonly driver: string
  readonly problem: string | null
  /** Output of the driver. */
  readonly output: string
}

/** Compiles the shader. An empty one fails, but still yields the driver's name. */
function compile(env: RadvEnv, target: string, shader: string): Compilation {
  const { stdout, stderr, status, signal, error } = spawnSync(process.execPath, [CHILD, target], {
    env: { ...process.env, ...env, AMDGPU_GPU_ID: target },
    input: shader,
    encoding: 'utf8',
    timeout: MAX_COMPILE_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
  })
  const said = (stderr ?? '').trim().split('\n').at(-1) || `it ended with ${signal ?? `exit code ${status}`}`
  // A child that exits early closes its stdin, which causes EPIPE here. Its output still counts.
  const isClosedInput = (error as NodeJS.ErrnoException | undefined)?.code === 'EPIPE'
  const complaint = error === undefined || isClosedInput ? said.replace('MESA: error: ', '') : error.message
  const problem = status === 0 ? null : complaint
  return { driver: (stdout ?? '').trim(), problem, output: stderr ?? '' }
}
