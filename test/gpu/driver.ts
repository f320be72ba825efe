/**
 * Drivers for the GPU tests: SwiftShader, which comes with a development dependency, and Mesa's lavapipe where it is
 * installed. Both are software. With NEWCUT_TEST_GPU=system tests use the driver of the machine instead.
 */
import { join } from 'node:path'
import { MIN_MESA, vulkanManifest } from '../../bench/mesa.ts'
import { listAdapters } from '../../src/engine/gpu/adapters.ts'
import type { AdapterInfo } from '../../src/engine/gpu/messages.ts'
import { NOT_PACKAGED, unpacked } from './packaged.ts'

type Environment = Readonly<Record<string, string>>

export interface TestDriver {
  readonly name: string
  /** Environment of the child processes. */
  readonly env: Environment
  readonly adapter: AdapterInfo
  /** How many times SwiftShader it is, roughly: for difficulties. */
  readonly speed: number
  /** Takes the tests that take long: the fastest driver there is. The others take a short form. */
  readonly isThorough: boolean
}

/** What a program needs to find the driver of the machine, where its loader lies in a folder of its own. */
const systemEnv = (): Environment =>
  Object.fromEntries(
    ['LD_LIBRARY_PATH', 'VK_DRIVER_FILES'].flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** Prints why one of the drivers is missing. Without any the list is empty, and driverLack tells why. */
export async function testDrivers(): Promise<readonly TestDriver[]> {
  if (isSystemWanted()) return opened([await open('system', systemEnv())])
  return opened([await open('SwiftShader', swiftShaderEnv()), await open('lavapipe', lavapipeEnv())])
}

/** SwiftShader, or the driver of the machine; null where there is neither. */
export async function testDriver(): Promise<TestDriver | null> {
  const [driver] = opened([
    isSystemWanted() ? await open('system', systemEnv()) : await open('SwiftShader', swiftShaderEnv()),
  ])
  return driver ?? null
}

const isSystemWanted = () => process.env.NEWCUT_TEST_GPU === 'system'

let lack: string | null = null

/** Why there was no driver when they were asked for last; null: there was one. */
export const driverLack = (): string | null => lack

type Opened = Omit<TestDriver, 'isThorough'>

function opened(found: readonly (Opened | string)[]): readonly TestDriver[] {
  const drivers = found.filter((driver) => typeof driver !== 'string')
  const reasons = found.filter((driver) => typeof driver === 'string')
  lack = drivers.length === 0 ? `no driver for GPU tests: ${reasons.join('; ')}` : null
  if (lack === null) for (const reason of reasons) process.stderr.write(`GPU tests skipped on ${reason}\n`)
  return drivers.map((driver, index) => ({ ...driver, isThorough: index === drivers.length - 1 }))
}

/** A driver that offers an adapter, or its name and why it is not there. */
async function open(name: string, env: Environment | string): Promise<Opened | string> {
  if (typeof env === 'string') return `${name}: ${env}`
  const { adapters, problem } = await listAdapters({ env })
  const [adapter] = adapters
  if (problem !== null) return `${name}: ${problem}`
  const mesa = /Mesa (\d+)/.exec(adapter.driver)
  if (name === 'lavapipe' && Number(mesa?.[1]) < MIN_MESA) return `${name}: ${adapter.driver} is older than ${MIN_MESA}`
  return { name, env, adapter, speed: speedOf(adapter) }
}

/** Lavapipe is 40 to 110 times SwiftShader on idle cores. A card is much more, but solutions are hashed again here. */
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
