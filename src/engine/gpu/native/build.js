/**
 * Compiles the Vulkan layer that shows only one card, on Linux. npm runs this script at installation. Without the
 * layer, only the first of several identical cards mines, and newcut reports that there are more.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { provide } from '../../compile.js'

const source = fileURLToPath(new URL('./one-card.c', import.meta.url))
/** A folder of its own, because the Vulkan loader reads all manifests in it. The path is also in identical.ts. */
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

function build(compile) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const failure = compile({ source, output: `${folder}/one-card.so` })
  // Written last: its existence means that the layer is ready (hasLayer).
  if (failure === null) writeFileSync(`${folder}/one-card.json`, `${JSON.stringify(manifest, null, 2)}\n`)
  return failure
}

if (process.platform === 'linux') provide('Vulkan layer', build)
