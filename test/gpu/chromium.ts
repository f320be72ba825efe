/** Headless Chromium for tests: the one of this machine, else the packaged one, with a software driver for WebGPU. */
import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { NOT_PACKAGED, unpacked } from './driver.ts'

const WEBGPU_FLAGS = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader']
const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** Chromium's command and what it needs around it. */
function findBrowser(): { executablePath: string; env: Record<string, string> } | null {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))
  const own = paths.find((path) => existsSync(path))
  if (own !== undefined) return { executablePath: own, env: {} }
  const [folder, driver, libraries] = ['chromium.br', 'swiftshader.tar.br', 'al2023.tar.br'].map(unpacked)
  if (folder == null || driver == null) return null
  // Chromium looks for its software driver beside itself.
  for (const file of readdirSync(driver)) {
    if (!existsSync(join(folder, file))) symlinkSync(join(driver, file), join(folder, file))
  }
  const path = [folder, `${libraries}/lib`, process.env.LD_LIBRARY_PATH].filter((part) => part).join(':')
  return { executablePath: join(folder, 'chromium'), env: { LD_LIBRARY_PATH: path } }
}

/** Starts Chromium, with WebGPU or without it; a text says why there is none. */
export async function launchChromium({ webgpu = true } = {}): Promise<Browser | string> {
  const found = findBrowser()
  if (found === null) return `no Chromium: ${NOT_PACKAGED}`
  try {
    const env = { ...process.env, ...found.env } as Record<string, string>
    const args = ['--no-sandbox', ...(webgpu ? WEBGPU_FLAGS : ['--disable-features=WebGPU,WebGPUService'])]
    return await chromium.launch({ executablePath: found.executablePath, args, env, timeout: 20_000 })
  } catch (error) {
    return `Chromium does not start: ${(error as Error).message.split('\n')[0]}`
  }
}
