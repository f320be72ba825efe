/** Copies the library that draws charts into dist/, where the miner serves it from. The last step of `npm run build`. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const library = dirname(createRequire(import.meta.url).resolve('uplot/package.json'))
const target = fileURLToPath(new URL('../../../dist/src/web/dashboard/kept/', import.meta.url))
mkdirSync(target, { recursive: true })
for (const file of ['dist/uPlot.iife.min.js', 'dist/uPlot.min.css', 'LICENSE']) {
  copyFileSync(join(library, file), join(target, file.replace('dist/', '')))
}
