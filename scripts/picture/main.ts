/** `npm run picture`: captures the README's picture, docs/images/newcut.png, from a miner on this machine. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchChromium } from '../../test/gpu/chromium.ts'
import { ROOT } from '../root.ts'
import { capture } from './capture.ts'
import { encodePng } from './png.ts'
import { draw } from './scene.ts'

/** The dashboard has the width of the picture in pixels; further scaling would blur it. */
const SIZES = { columns: 106, rows: 8, width: 1200, height: 712, scale: 1.5 }

const browser = await launchChromium()
if (typeof browser === 'string') throw new Error(`the picture needs a browser: ${browser}`)
try {
  const captured = await capture(browser, SIZES)
  const picture = encodePng(await draw(browser, captured))
  writeFileSync(join(ROOT, 'docs/images/newcut.png'), picture)
  console.log(`docs/images/newcut.png: ${Math.ceil(picture.length / 1000)} kB`)
} finally {
  await browser.close()
}
