/** The parts of `npm run picture`: the console as HTML, and the PNG file. */
import { inflateSync } from 'node:zlib'
import xterm from '@xterm/headless'
import { describe, expect, it } from 'vitest'
import { consoleHtml } from '../../scripts/picture/console.ts'
import { encodePng } from '../../scripts/picture/png.ts'

/** The cells of a terminal of two rows after this output. */
async function cellsAfter(output: string) {
  const terminal = new xterm.Terminal({ cols: 12, rows: 2, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(output, resolve))
  const { active } = terminal.buffer
  const cellAt = (x: number, y: number) => active.getLine(y)?.getCell(x) ?? active.getNullCell()
  return [0, 1].map((y) => Array.from({ length: 12 }, (_, x) => cellAt(x, y)))
}

it('the picture has the console with its colours, bold and dim, and escapes HTML', async () => {
  const cells = await cellsAfter('\u001b[32mfound\u001b[39m 1 < 2\r\n\u001b[1ma\u001b[22m\u001b[2mb\u001b[22m&')
  const [first, second, ...others] = consoleHtml(cells).split('\n')
  expect(first).toBe('<span style="color:#4fd08b">found</span> 1 &lt; 2')
  expect(second).toBe('<span style="font-weight:700">a</span><span style="opacity:.62">b</span>&amp;')
  expect(others).toEqual([])
})

describe('the PNG', () => {
  /** Chunk type -> data. */
  function chunksOf(png: Buffer): Map<string, Buffer> {
    const chunks = new Map<string, Buffer>()
    for (let at = 8; at < png.length; ) {
      const length = png.readUInt32BE(at)
      chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + length))
      at += 12 + length
    }
    return chunks
  }

  /** Red, green, blue and alpha of each pixel. */
  function decoded(png: Buffer): number[][] {
    const chunks = chunksOf(png)
    const part = (type: string) => chunks.get(type) ?? Buffer.alloc(0)
    const width = part('IHDR').readUInt32BE(0)
    const indexes = [...inflateSync(part('IDAT'))].filter((_, at) => at % (width + 1) > 0)
    return indexes.map((index) => [...part('PLTE').subarray(3 * index, 3 * index + 3), part('tRNS')[index]])
  }

  it('a PNG keeps up to 256 colours as they are, with their alpha', () => {
    const pixels = Array.from({ length: 256 }, (_, at) => [at, 255 - at, at % 7, at % 2 === 0 ? 255 : at])
    const png = encodePng({ width: 32, height: 8, rgba: Uint8Array.from(pixels.flat()) })
    expect(decoded(png)).toEqual(pixels)
    expect([...chunksOf(png).keys()]).toEqual(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'])
  })

  it('a PNG with more colours has the nearest of 256, and keeps frequent ones', () => {
    const frequent = Array.from({ length: 60 }, (_, at) => [20 + (at % 3), 28, 26, 255])
    const rare = Array.from({ length: 964 }, (_, at) => [at % 256, (at * 37) % 256, (at * 101) % 256, 255])
    const pixels = [...frequent, ...rare]
    const shown = decoded(encodePng({ width: 32, height: 32, rgba: Uint8Array.from(pixels.flat()) }))
    expect(shown.slice(0, 60)).toEqual(frequent)
    expect(new Set(shown.map(String)).size).toBeLessThanOrEqual(256)
    for (const [at, [red, green, blue]] of shown.entries()) {
      const [r, g, b] = pixels[at]
      expect(Math.hypot(red - r, green - g, blue - b)).toBeLessThan(64)
    }
  })
})
