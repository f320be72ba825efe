/**
 * Composes the picture: console above dashboard, as two windows on a transparent background for light and dark pages.
 */
import type { Browser } from '../../test/gpu/chromium.ts'
import { type Captured, DASHBOARD } from './capture.ts'
import type { Pixels } from './png.ts'

/** Width of the picture in CSS pixels; each has SCALE image pixels. */
const WIDTH = 900
const SCALE = 2

const STYLE = `
  * { box-sizing: border-box; margin: 0 }
  body { width: ${WIDTH}px; font-family: system-ui, sans-serif }
  section { position: relative; border-radius: 10px; overflow: hidden; background: #0f1312 }
  section + section { margin-top: 8px }
  section::after { content: ''; position: absolute; inset: 0; border: 1px solid #3a4642; border-radius: inherit }
  header { position: relative; height: 26px; line-height: 26px; background: #1b2220; color: #98a39e;
    font-size: 12px; text-align: center }
  header::before { content: ''; position: absolute; left: 14px; top: 8px; width: 10px; height: 10px;
    border-radius: 50%; background: #3f4a46; box-shadow: 17px 0 #3f4a46, 34px 0 #3f4a46 }
  pre { padding: 8px 16px 10px; color: #d5ddd9; font: 13px/19px 'DejaVu Sans Mono', monospace }
  img { display: block; width: 100% }
`

const windowed = (title: string, content: string) => `<section><header>${title}</header>${content}</section>`

/** Draws the windows. */
export async function draw(browser: Browser, { console, dashboard }: Captured): Promise<Pixels> {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: 100 }, deviceScaleFactor: SCALE })
  const body = windowed('npm start', `<pre>${console}</pre>`) + windowed(DASHBOARD, `<img src="${urlOf(dashboard)}">`)
  await page.setContent(`<!doctype html><style>${STYLE}</style><body>${body}`)
  const drawn = await page.screenshot({ fullPage: true, omitBackground: true })
  const pixels = await page.evaluate<{ width: number; height: number; rgba: string }>(
    PIXELS.replace('URL', urlOf(drawn)),
  )
  return { ...pixels, rgba: Buffer.from(pixels.rgba, 'base64') }
}

const urlOf = (png: Buffer) => `data:image/png;base64,${png.toString('base64')}`

/** Runs in the page: decodes a PNG at URL. */
const PIXELS = `(async () => {
  const image = new Image()
  image.src = 'URL'
  await image.decode()
  const { width, height } = image
  const context = new OffscreenCanvas(width, height).getContext('2d')
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, 0, width, height)
  let text = ''
  for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768))
  return { width, height, rgba: btoa(text) }
})()`
