/** The animated braid: follows the state and reports the hovered block. */
import { blockAt, type Layout, layoutFor, pastOf, xOf } from './braid-layout.ts'
import { type Palette, paint } from './braid-paint.ts'
import type { KnownBlock, NodeState } from './state.ts'

const GROWTH_MS = 500
/** Time constant of the movement, in which the picture covers about two thirds of the distance. */
const SETTLE_MS = 220
/** Distance above which the picture jumps. */
const MAX_GLIDE = 40
const PAST_STEPS = 10

export interface BraidOptions {
  readonly canvas: HTMLCanvasElement
  /** Called with the hovered block, or null. */
  readonly onPoint: (block: KnownBlock | null) => void
  readonly onOpen: (block: KnownBlock) => void
}

export class Braid {
  readonly #options: BraidOptions
  readonly #context: CanvasRenderingContext2D
  readonly #calm = matchMedia('(prefers-reduced-motion: reduce)')
  readonly #falls = new Map<string, number>()
  #state: NodeState | null = null
  #layout: Layout | null = null
  #palette: Palette | null = null
  #newest = 0
  #pointed: string | null = null
  /** The last hovered block, where arrow keys continue. */
  #last = ''
  #frame = 0
  #lastMs = 0

  constructor(options: BraidOptions) {
    const { canvas } = options
    const context = canvas.getContext('2d')
    if (context === null) throw new Error('this browser has no 2D canvas')
    this.#options = options
    this.#context = context
    canvas.tabIndex = 0
    canvas.setAttribute('role', 'application')
    canvas.setAttribute('aria-describedby', 'pointed')
    new ResizeObserver(() => this.#measure()).observe(canvas.parentElement as HTMLElement)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#measure())
    canvas.addEventListener('pointermove', (event) => this.#point(this.#blockUnder(event)))
    canvas.addEventListener('pointerleave', () => this.#point(null))
    canvas.addEventListener('blur', () => this.#point(null))
    canvas.addEventListener('click', (event) => this.#open(this.#blockUnder(event)))
    canvas.addEventListener('keydown', (event) => this.#onKey(event))
  }

  /** Shows a changed or new state. */
  show(state: NodeState): void {
    const isOther = this.#state !== state
    const hasOtherChains = this.#state?.view.heads.length !== state.view.heads.length
    this.#state = state
    if (isOther) {
      this.#newest = state.highest
      this.#falls.clear()
    }
    if (hasOtherChains) this.#measure()
    for (const hash of this.#falls.keys()) if (!state.blocks.has(hash)) this.#falls.delete(hash)
    this.#wake()
  }

  #measure(): void {
    const { canvas } = this.#options
    const chains = this.#state?.view.heads.length
    const width = canvas.parentElement?.clientWidth ?? 0
    if (chains === undefined || width === 0) return
    this.#layout = layoutFor(width, chains)
    this.#palette = paletteFor(chains)
    const { height } = this.#layout
    canvas.width = Math.round(width * devicePixelRatio)
    canvas.height = Math.round(height * devicePixelRatio)
    canvas.style.height = `${height}px`
    this.#wake()
  }

  #wake(): void {
    if (this.#frame !== 0) return
    this.#lastMs = performance.now()
    this.#frame = requestAnimationFrame((nowMs) => this.#draw(nowMs))
  }

  #draw(nowMs: number): void {
    this.#frame = 0
    const [state, layout, palette] = [this.#state, this.#layout, this.#palette]
    if (state === null || layout === null || palette === null) return
    const fraction = this.#calm.matches ? 1 : 1 - Math.exp(-Math.max(1, nowMs - this.#lastMs) / SETTLE_MS)
    this.#lastMs = nowMs
    const isGliding = this.#glide(state.highest, fraction)
    const isFalling = this.#fall(state, fraction)
    let isGrowing = false
    const growth = ({ bornMs }: KnownBlock) => {
      const grown = this.#calm.matches ? 1 : Math.min(1, Math.max(0, (nowMs - bornMs) / GROWTH_MS))
      if (grown < 1) isGrowing = true
      return grown
    }
    const pointed = this.#pointed === null ? undefined : state.blocks.get(this.#pointed)
    this.#context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    paint(this.#context, {
      layout,
      palette,
      blocks: state.blocks,
      heads: new Set(state.view.heads.map(({ hash }) => hash)),
      paused: new Set(state.view.status?.paused ?? []),
      newest: this.#newest,
      past: pointed === undefined ? null : pastOf(pointed, state.blocks, PAST_STEPS),
      growth,
      fall: ({ hash }) => this.#falls.get(hash) ?? 0,
    })
    if (isGliding || isFalling || isGrowing) this.#frame = requestAnimationFrame((each) => this.#draw(each))
  }

  /** Moves the picture towards the highest block. @returns whether it still moves */
  #glide(highest: number, share: number): boolean {
    const way = highest - this.#newest
    if (Math.abs(way) < 0.01 || Math.abs(way) > MAX_GLIDE) this.#newest = highest
    else this.#newest += way * share
    return this.#newest !== highest
  }

  /** Moves blocks off their lanes and back. @returns whether a block still moves */
  #fall(state: NodeState, share: number): boolean {
    let isMoving = false
    for (const { hash, isOnChain, bornMs } of state.blocks.values()) {
      const goal = isOnChain ? 0 : 1
      // A block that arrives as an orphan starts there.
      const known = this.#falls.get(hash) ?? (bornMs === -Infinity || !isOnChain ? goal : 0)
      const next = Math.abs(goal - known) < 0.01 ? goal : known + (goal - known) * share
      this.#falls.set(hash, next)
      if (next !== goal) isMoving = true
    }
    return isMoving
  }

  #blockUnder({ offsetX, offsetY }: MouseEvent): KnownBlock | null {
    if (this.#state === null || this.#layout === null) return null
    return blockAt(this.#layout, this.#state.blocks.values(), [offsetX, offsetY], this.#newest)
  }

  #point(block: KnownBlock | null): void {
    if ((block?.hash ?? null) === this.#pointed) return
    this.#pointed = block?.hash ?? null
    if (block !== null) this.#last = block.hash
    this.#options.canvas.style.cursor = block === null ? '' : 'pointer'
    this.#options.onPoint(block)
    this.#wake()
  }

  #open(block: KnownBlock | null): void {
    if (block !== null) this.#options.onOpen(block)
  }

  #onKey(event: KeyboardEvent): void {
    const state = this.#state
    if (state === null) return
    const pointed = state.blocks.get(this.#pointed ?? this.#last)
    if (event.key === 'Enter' && pointed !== undefined) this.#open(pointed)
    else if (event.key === 'Escape') this.#point(null)
    else if (event.key.startsWith('Arrow')) this.#point(nextBlock(state, pointed, event.key, this.#isInSight))
    else return
    event.preventDefault()
  }

  readonly #isInSight = ({ height }: KnownBlock): boolean => {
    const layout = this.#layout
    return layout !== null && xOf(layout, height, this.#newest) > layout.left
  }
}

/** The next block in the direction of an arrow key, or the same if there is none. */
function nextBlock(
  { blocks, view }: NodeState,
  from: KnownBlock | undefined,
  key: string,
  isInSight: (block: KnownBlock) => boolean,
): KnownBlock | null {
  if (from === undefined) return blocks.get(view.heads[0].hash) ?? null
  const chain = from.chain + (key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0)
  const height = from.height + (key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0)
  const onChain = [...blocks.values()].filter((block) => block.chain === chain && block.isOnChain && isInSight(block))
  const nearest = onChain.sort((a, b) => Math.abs(a.height - height) - Math.abs(b.height - height))[0]
  return nearest ?? from
}

/** Colours of the style sheet and of the chains: similar hues for neighbours, equal contrast for all. */
function paletteFor(chains: number): Palette {
  const style = getComputedStyle(document.documentElement)
  const colourNamed = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const [light, strength] = [colourNamed('chain-light'), colourNamed('chain-strength')]
  return {
    ground: colourNamed('card'),
    text: colourNamed('text'),
    soft: colourNamed('soft'),
    line: colourNamed('line'),
    bad: colourNamed('bad'),
    chains: Array.from({ length: chains }, (_, chain) => {
      const hue = 178 + (chains === 1 ? 0 : (172 * chain) / (chains - 1))
      return `oklch(${light} ${strength} ${Math.round(hue)})`
    }),
  }
}
