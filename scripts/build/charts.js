/** Copies the library that draws charts into dist/, from where the miner serves it. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { dist } from './places.js'

export function copyCharts() {
  const library = dirname(createRequire(import.meta.url).resolve('uplot/package.json'))
  const target = `${dist}src/faces/web/dashboard/kept/`
  mkdirSync(target, { recursive: true })
  for (const file of ['dist/uPlot.iife.min.js', 'dist/uPlot.min.css', 'LICENSE']) {
    copyFileSync(join(library, file), join(target, file.replace('dist/', '')))
  }
}
