/**
 * Compiles the Vulkan layer that shows one card, on Linux. npm runs this when newcut is installed, before there is any
 * compiled TypeScript. When it fails it says so in one line and the installation goes on. Without the layer only the
 * first of several identical cards mines, and newcut says that there are more.
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MAX_COMPILE_MS = 60_000
const source = fileURLToPath(new URL('./one-card.c', import.meta.url))
/** A folder of its own, since the Vulkan loader reads all manifests in it; identical.ts names it. */
const folder = fileURLToPath(new URL('../../../../build/vulkan', import.meta.url))

const manifest = {
  file_format_version: '1.1.2',
  layer: {
    name: 'VK_LAYER_NEWCUT_one_card',
    type: 'INSTANCE',
    library_path: './one-card.so',
    api_version: '1.3.0',
    implementation_version: '1',
    description: 'Shows one card and hides all others',
  },
}

/** null when it is built, else why it is not. */
function build(compiler) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const [command, ...first] = compiler.split(/\s+/)
  const options = ['-std=gnu11', '-O2', '-shared', '-fPIC', '-fvisibility=hidden', '-o', `${folder}/one-card.so`]
  const run = spawnSync(command, [...first, ...options, source], { encoding: 'utf8', timeout: MAX_COMPILE_MS })
  if (run.error?.code === 'ENOENT') return `there is no C compiler ${command}`
  if (run.error !== undefined) return run.error.message
  if (run.status !== 0) return `${compiler} failed: ${run.stderr.split('\n')[0] || 'it printed no reason'}`
  // Written last, since its presence means that the layer is there (hasLayer).
  writeFileSync(`${folder}/one-card.json`, `${JSON.stringify(manifest, null, 2)}\n`)
  return null
}

function report(compiler) {
  try {
    const failure = build(compiler)
    return failure === null ? `Vulkan layer compiled with ${compiler}` : `no Vulkan layer: ${failure}`
  } catch (error) {
    return `no Vulkan layer: ${error.message.split('\n')[0]}`
  }
}

if (process.platform === 'linux') console.log(`newcut: ${report(process.env.CC?.trim() || 'cc')}`)
