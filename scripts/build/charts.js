/** Copies the library that draws charts into dist/, from where the miner serves it. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { dist } from './places.js'

const SCRIPT = 'uPlot.iife.min.js'
/** The library asks for numbers in the language of the browser, and fails for one like en-US@posix. */
const LANGUAGE = /new Intl\.NumberFormat\([^()]*\.language:"en-US"\)/g

/** @throws {Error} if the library is another than this file knows */
export function copyCharts() {
  const library = dirname(createRequire(import.meta.url).resolve('uplot/package.json'))
  const target = `${dist}src/faces/web/dashboard/kept/`
  mkdirSync(target, { recursive: true })
  for (const file of ['dist/uPlot.min.css', 'LICENSE']) {
    copyFileSync(join(library, file), join(target, file.replace('dist/', '')))
  }
  const script = readFileSync(join(library, 'dist', SCRIPT), 'utf8')
  if (script.match(LANGUAGE)?.length !== 1) throw new Error(`${SCRIPT}: expected one format of numbers`)
  // Pages write all numbers so.
  writeFileSync(join(target, SCRIPT), script.replace(LANGUAGE, 'new Intl.NumberFormat("en")'))
}
