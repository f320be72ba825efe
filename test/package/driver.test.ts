/**
 * The kernels on other machines, under emulation. A program without Node sweeps the ranges of the self-test. Its
 * results must equal those of a sweep that hashes one nonce after the other.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tailLayout } from '../../src/mining/engine/cpu/kernel.ts'
import { chooseNative, loadChosen } from '../../src/mining/engine/cpu/native-choice.ts'
import { createNativeKernel, type NativeAddon, type NativeName } from '../../src/mining/engine/cpu/native-kernel.ts'
import { selfTestKernel } from '../../src/mining/engine/cpu/self-test.ts'
import { WORK_BYTES } from '../conformance/kernel.ts'
import { describeWith } from '../needs.ts'
import { sweepOneByOne } from './one-by-one.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-driver-'))
afterAll(() => rmSync(folder, { recursive: true }))
const native = fileURLToPath(new URL('../../src/mining/engine/cpu/native/', import.meta.url))
/** The driver, which includes `kernel.c`, and the files of the kernels. */
const sources = [
  fileURLToPath(new URL('./kernel-driver.c', import.meta.url)),
  ...readdirSync(native)
    .filter((name) => name.endsWith('.c') && name !== 'kernel.c')
    .map((name) => join(native, name)),
]
const { include_dir: include } = createRequire(import.meta.url)('node-api-headers')

const here = loadChosen(chooseNative()).sweeps

interface Machine {
  readonly name: string
  readonly compiler: string
  /** Command prefix that starts its programs. */
  readonly starter: readonly string[]
  readonly kernels: readonly (readonly [name: NativeName, lanes: number])[]
  /** A file that compiler and starter need, and the Debian packages of all three. */
  readonly needs: string
  readonly debian: string
}

const x64Kernels = [
  ['native-avx512', 32],
  ['native-avx2', 16],
  ['native-sse41', 8],
] as const

const machines: readonly Machine[] = [
  {
    name: 'linux-arm64',
    compiler: 'aarch64-linux-gnu-gcc',
    starter: ['qemu-aarch64'],
    kernels: [['native-neon', 8]],
    needs: '/usr/aarch64-linux-gnu/lib/libc.a',
    debian: 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user',
  },
  {
    name: 'win32-x64',
    compiler: 'x86_64-w64-mingw32-gcc',
    starter: ['/usr/lib/wine/wine64'],
    kernels: x64Kernels,
    needs: '/usr/lib/wine/wine64',
    debian: 'gcc-mingw-w64-x86-64-win32 wine64',
  },
]

function lackOf({ compiler, starter, needs, debian }: Machine): string | null {
  const missing = [compiler, starter[0]].filter((tool) => spawnSync(tool, ['--version']).error !== undefined)
  if (!existsSync(needs)) missing.push(needs)
  return missing.length === 0 ? null : `there is no ${missing.join(', no ')} (apt-get install ${debian})`
}

for (const machine of machines) {
  describeWith(lackOf(machine), `the kernels of ${machine.name}, emulated`, () => {
    const program = join(folder, `${machine.name}.exe`)
    beforeAll(() => {
      const flags = ['-std=gnu11', '-O3', '-static', '-I', include, ...windowsFlags(machine)]
      const run = spawnSync(machine.compiler, [...flags, '-o', program, ...sources], { encoding: 'utf8' })
      expect(run.stderr).toBe('')
      expect(run.status).toBe(0)
    })

    // Wine runs programs on this processor, so only the kernels that this processor supports run.
    const kernels = machine.kernels.filter(([name]) => name === 'native-neon' || name in here)
    it.each(kernels)(
      `the kernel %s for ${machine.name}, emulated, gives the results that the self-test expects`,
      (name, lanes) => {
        const lines: string[] = []
        const wanted: number[] = []
        const sweeps: NativeAddon['sweeps'] = {
          [name]: (job: Uint32Array, from: number, to: number) => {
            const found = sweepOneByOne(job, from, to, lanes)
            lines.push([name, from, to, ...job].join(' '))
            wanted.push(found)
            return found
          },
        }
        for (const workBytes of WORK_BYTES) {
          const layout = tailLayout(workBytes)
          expect(
            selfTestKernel(createNativeKernel(name, layout, { sweeps, obstacle: null }), layout, randomBytes),
          ).toBeNull()
        }
        const [command, ...first] = machine.starter
        const env = { PATH: process.env.PATH, HOME: folder, WINEDEBUG: '-all' }
        const run = spawnSync(command, [...first, program], { input: lines.join('\n'), encoding: 'utf8', env })
        expect(run.status).toBe(0)
        const answers = run.stdout.trim().split(/\s+/)
        expect(lines.length).toBeGreaterThan(500)
        expect(answers.map(Number)).toEqual(wanted)
      },
    )
  })
}

/** The flags of scripts/package/targets.ts that change the code. Imports resolve in the program itself. */
function windowsFlags({ name }: Machine): string[] {
  return name.startsWith('win32') ? ['-Wa,-muse-unaligned-vector-move', '-DNAPI_EXTERN='] : []
}
