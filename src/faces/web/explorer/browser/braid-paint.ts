/** Draws a braid: lanes, the edges to parents and adjacent parents, blocks. */
import { heightsIn, type Layout, orphanOffset, xOf, yOf } from './braid-layout.ts'
import type { KnownBlock } from './state.ts'

export interface Palette {
  readonly ground: string
  readonly text: string
  readonly soft: string
  readonly line: string
  readonly bad: string
  /** Colours of the chains. */
  readonly chains: readonly string[]
}

export interface Scene {
  readonly layout: Layout
  readonly palette: Palette
  readonly blocks: ReadonlyMap<string, KnownBlock>
  readonly heads: ReadonlySet<string>
  readonly paused: ReadonlySet<number>
  /** Height at the right edge. */
  readonly newest: number
  /** The hovered block and its ancestors, or null. */
  readonly past: ReadonlyMap<string, number> | null
  /** Progress of a block's appearance, 0 to 1. */
  readonly growth: (block: KnownBlock) => number
  /** Offset of a block from its lane: 0 on it, 1 for orphans. */
  readonly fall: (block: KnownBlock) => number
}

type Paint = CanvasRenderingContext2D

export function paint(context: Paint, scene: Scene): void {
  const { layout, newest, blocks } = scene
  context.clearRect(0, 0, layout.width, layout.height)
  const lowest = newest - heightsIn(layout)
  const shown = [...blocks.values()].filter(({ height }) => height >= lowest)
  paintHeights(context, scene)
  context.save()
  context.beginPath()
  context.rect(layout.left, 0, layout.width - layout.left, layout.height)
  context.clip()
  paintEdges(context, scene, shown)
  for (const block of shown) paintBlock(context, scene, block)
  context.restore()
  paintLabels(context, scene)
}

function paintHeights(context: Paint, { layout, palette, newest }: Scene): void {
  context.font = '11px ui-monospace, Menlo, Consolas, monospace'
  context.textAlign = 'center'
  context.textBaseline = 'alphabetic'
  const every = layout.hasText ? 1 : 5
  const first = Math.max(0, Math.ceil(newest - heightsIn(layout)))
  for (let height = first; height <= Math.ceil(newest); height++) {
    if (height % every !== 0) continue
    const x = xOf(layout, height, newest)
    if (x < layout.left + 8 || x > layout.width - 12) continue
    context.strokeStyle = palette.line
    context.lineWidth = 1
    context.beginPath()
    context.moveTo(x, 6)
    context.lineTo(x, layout.height - 20)
    context.stroke()
    context.fillStyle = palette.soft
    context.fillText(String(height), x, layout.height - 6)
  }
}

function paintLabels(context: Paint, { layout, palette, paused }: Scene): void {
  context.textAlign = 'right'
  context.textBaseline = 'middle'
  context.font = '11px ui-monospace, Menlo, Consolas, monospace'
  for (let chain = 0; chain < layout.chains; chain++) {
    const y = yOf(layout, chain)
    context.fillStyle = paused.has(chain) ? palette.bad : palette.soft
    context.fillText(String(chain), layout.left - 10, y)
    if (paused.has(chain)) {
      context.fillRect(layout.left - 7, y - 4, 2, 8)
      context.fillRect(layout.left - 3, y - 4, 2, 8)
    }
  }
}

function pointOf({ layout, newest, fall }: Scene, block: KnownBlock): readonly [number, number] {
  return [xOf(layout, block.height, newest), yOf(layout, block.chain) + fall(block) * orphanOffset(layout)]
}

function paintEdges(context: Paint, scene: Scene, shown: readonly KnownBlock[]): void {
  const { blocks, palette, past } = scene
  for (const block of shown) {
    const growth = scene.growth(block)
    const isParent = (hash: string) => hash === block.parent
    for (const hash of [...block.adjacents, block.parent]) {
      const from = blocks.get(hash)
      if (from === undefined) continue
      const steps = past?.get(block.hash)
      const isLit = steps !== undefined && past?.has(hash) === true
      const strength = isParent(hash) ? 0.85 : strengthOf(scene, block, from)
      const seen = past === null ? strength : isLit ? Math.max(strength * 0.2, nearness(steps) - 0.2) : strength * 0.2
      context.globalAlpha = seen * growth * (block.isOnChain ? 1 : 0.55)
      context.strokeStyle = palette.chains[from.chain]
      context.lineWidth = isParent(hash) ? 2 : isLit ? 1.5 : 1
      context.setLineDash(block.isOnChain ? [] : [3, 3])
      curve(context, pointOf(scene, from), pointOf(scene, block), growth)
    }
  }
  context.setLineDash([])
  context.globalAlpha = 1
}

/**
 * Opacity of an edge to an adjacent chain. It decreases with the number of chains and the length of the edge, because
 * more edges cross. It is highest at the growing end.
 */
function strengthOf({ layout: { chains }, newest }: Scene, block: KnownBlock, from: KnownBlock): number {
  const [base, least] = chains <= 3 ? [0.7, 0.5] : chains <= 10 ? [0.6, 0.3] : [0.55, 0.16]
  const length = Math.abs(block.chain - from.chain) / chains
  const age = Math.min(1, Math.max(0, newest - block.height) / 8)
  return (base - (base - least) * age) * (1 - 0.45 * length)
}

/** Draws a curve from left to right, level at both ends, up to `growth`. */
function curve(context: Paint, [x, y]: readonly [number, number], to: readonly [number, number], growth: number): void {
  const [toX, toY] = [x + (to[0] - x) * growth, y + (to[1] - y) * growth]
  const bend = (toX - x) * 0.36
  context.beginPath()
  context.moveTo(x, y)
  if (y === toY) context.lineTo(toX, toY)
  else context.bezierCurveTo(x + bend, y, toX - bend, toY, toX, toY)
  context.stroke()
}

function paintBlock(context: Paint, scene: Scene, block: KnownBlock): void {
  const { layout, palette, heads, past } = scene
  const growth = scene.growth(block)
  const [x, y] = pointOf(scene, block)
  const colour = palette.chains[block.chain]
  const seen = past === null ? 1 : nearness(past.get(block.hash))
  const size = easeOutBack(growth) * (block.isOnChain ? 1 : 0.8)
  const [halfWidth, halfHeight] = [layout.block[0] * size, layout.block[1] * size]
  context.globalAlpha = seen
  if (heads.has(block.hash)) {
    context.globalAlpha *= 0.22
    context.fillStyle = colour
    shape(context, x, y, halfWidth + 4 * growth, halfHeight + 4 * growth)
    context.fill()
    context.globalAlpha = seen
  }
  shape(context, x, y, halfWidth, halfHeight)
  context.fillStyle = block.isOnChain ? colour : palette.ground
  context.fill()
  if (!block.isOnChain) {
    context.strokeStyle = palette.soft
    context.lineWidth = 1.5
    context.stroke()
  }
  if (layout.hasText) paintText(context, scene, block, [x, y])
  else if (block.transactions > 0) {
    context.fillStyle = block.isOnChain ? palette.ground : palette.soft
    context.beginPath()
    context.arc(x, y, halfWidth * 0.42, 0, 2 * Math.PI)
    context.fill()
  }
  if (past?.get(block.hash) === 0) {
    context.strokeStyle = palette.text
    context.lineWidth = 2
    shape(context, x, y, halfWidth + 3, halfHeight + 3)
    context.stroke()
  }
  context.globalAlpha = 1
}

function paintText(context: Paint, { palette }: Scene, block: KnownBlock, [x, y]: readonly [number, number]): void {
  context.fillStyle = block.isOnChain ? palette.ground : palette.soft
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.font = '600 11px ui-monospace, Menlo, Consolas, monospace'
  context.fillText(String(block.height), x, y + 0.5)
  if (block.transactions === 0) return
  context.fillStyle = palette.soft
  context.font = '10px ui-monospace, Menlo, Consolas, monospace'
  context.fillText(`${block.transactions} tx`, x, y - 21)
}

function shape(context: Paint, x: number, y: number, halfWidth: number, halfHeight: number): void {
  context.beginPath()
  context.roundRect(x - halfWidth, y - halfHeight, 2 * halfWidth, 2 * halfHeight, Math.min(halfWidth, halfHeight, 7))
}

/** Opacity of a block by its distance from the hovered one. */
const nearness = (steps = Number.POSITIVE_INFINITY) => Math.max(0.25, 1 - steps * 0.075)

/** Easing with an overshoot. */
function easeOutBack(t: number): number {
  return t >= 1 ? 1 : Math.max(0, 1 + 2.2 * (t - 1) ** 3 + 1.2 * (t - 1) ** 2)
}
