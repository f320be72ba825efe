/**
 * Drivers for the GPU tests: SwiftShader, which comes with a development dependency, and Mesa's lavapipe if it is
 * installed. Both are software. With TEST_GPU=system the tests use the driver of the machine instead.
 */
import { join } from 'node:path'
import { MIN_MESA, vulkanManifest } from '../../bench/mesa.ts'
import { listAdapters } from '../../src/mining/engine/gpu/adapters.ts'
import type { AdapterInfo } from '../../src/mining/engine/gpu/messages.ts'
import { NOT_PACKAGED, unpacked } from './packaged.ts'

type Environment = Readonly<Record<string, string>>

export interface TestDriver {
  readonly name: string
  /** Environment of the child processes. */
  readonly env: Environment
  readonly adapter: AdapterInfo
  /** Approximate speed relative to SwiftShader: difficulties scale with it. */
  readonly speed: number
  /** True for the fastest driver: it runs the long tests. The others run a short form. */
  readonly isThorough: boolean
}

/** Environment in which programs find the driver of the machine, if its loader lies in its own folder. */
const systemEnv = (): Environment =>
  Object.fromEntries(
    ['LD_LIBRARY_PATH', 'VK_DRIVER_FILES'].flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** All drivers there are. Prints why one is missing; with none, `driverLack` gives the reason. */
export async function testDrivers(): Promise<readonly TestDriver[]> {
  if (isSystemWanted()) return opened([await open('system', systemEnv())])
  return opened([await open('SwiftShader', swiftShaderEnv()), await open('lavapipe', lavapipeEnv())])
}

/** SwiftShader, or the driver of the machine. @returns null if there is no such driver */
export async function testDriver(): Promise<TestDriver | null> {
  const [driver] = opened([
    isSystemWanted() ? await open('system', systemEnv()) : await open('SwiftShader', swiftShaderEnv()),
  ])
  return driver ?? null
}

const isSystemWanted = () => process.env.TEST_GPU === 'system'

let lack: string | null = null

/** @returns why the latest search found no driver, or null if it found one */
export const driverLack = (): string | null => lack

type Opened = Omit<TestDriver, 'isThorough'>

function opened(found: readonly (Opened | string)[]): readonly TestDriver[] {
  const drivers = found.filter((driver) => typeof driver !== 'string')
  const reasons = found.filter((driver) => typeof driver === 'string')
  lack = drivers.length === 0 ? `no driver for GPU tests: ${reasons.join('; ')}` : null
  if (lack === null) for (const reason of reasons) process.stderr.write(`GPU tests skipped on ${reason}\n`)
  return drivers.map((driver, index) => ({ ...driver, isThorough: index === drivers.length - 1 }))
}

/** A driver that offers an adapter, or a text with its name and why it is missing. */
async function open(name: string, env: Environment | string): Promise<Opened | string> {
  if (typeof env === 'string') return `${name}: ${env}`
  const { adapters, problem } = await listAdapters({ env })
  const [adapter] = adapters
  if (problem !== null) return `${name}: ${problem}`
  const mesa = /Mesa (\d+)/.exec(adapter.driver)
  if (name === 'lavapipe' && Number(mesa?.[1]) < MIN_MESA) return `${name}: ${adapter.driver} is older than ${MIN_MESA}`
  return { name, env, adapter, speed: speedOf(adapter) }
}

/**
 * Lavapipe is 40 to 110 times as fast as SwiftShader on idle cores. Cards are far faster, but tests hash all solutions
 * again on the CPU.
 */
function speedOf({ name, software }: AdapterInfo): number {
  return software ? (name.startsWith('llvmpipe') ? 25 : 1) : 1000
}

function swiftShaderEnv(): Environment | string {
  const folder = unpacked('swiftshader.tar.br')
  if (folder === null) return NOT_PACKAGED
  return {
    VK_ICD_FILENAMES: join(folder, 'vk_swiftshader_icd.json'),
    LD_LIBRARY_PATH: [folder, process.env.LD_LIBRARY_PATH].filter((path) => path).join(':'),
  }
}

function lavapipeEnv(): Environment | string {
  const manifest = vulkanManifest('lvp')
  return manifest === null
    ? 'mesa-vulkan-drivers is not installed: apt-get install mesa-vulkan-drivers'
    : { VK_ICD_FILENAMES: manifest }
}
