/**
 * The chains as a braid. A column is a chain, a row is a height, the highest above. A dot is a block; its lines go to the
 * blocks that it refers to: its parent, and those of the adjacent chains. A ring is a block that may come next.
 */
import type { ChainStatus } from '../../../source/source.ts'
import { draw, element, write } from '../../kit/dom.ts'
import { difficultyText, grouped } from '../../kit/numbers.ts'
import type { ShownBlock, Snapshot } from '../state.ts'

/** Rows below the lowest head. */
const DEPTH = 3
/** Most rows; chains of one network are close together. */
const MAX_ROWS = 9
/** Columns share the width of the page, within these; with very many chains the picture is scrolled. */
const [LEAST_COLUMN, MOST_COLUMN] = [13, 48]
/** Numbers of two digits are smaller here. */
const NARROW_COLUMN = 17
const ROW = 38
const MARGIN = 14
/** For the bars of difficulty and the numbers of the chains. */
const FOOT = 46

interface BlockSpot {
  readonly chain: number
  readonly height: number
}

export class CompactBraid {
  readonly #svg = draw('svg', { role: 'img', 'aria-labelledby': 'braid-note' })
  #chains: readonly ChainStatus[] = []
  #work: Snapshot['work'] = null
  #own: ReadonlySet<string> = new Set()
  /** What the picture was made of; it is made anew only when that changed. */
  #made = ''
  /** Blocks of the last picture: new ones fade in. */
  #known = new Set<string>()
  /** The chain that is pointed at. */
  #chosen: number | null = null

  constructor() {
    element('braid').append(this.#svg)
    new ResizeObserver(() => this.#draw()).observe(element('braid'))
    this.#svg.addEventListener('pointermove', ({ target }) => this.#choose(target))
    this.#svg.addEventListener('pointerdown', ({ target }) => this.#choose(target))
    this.#svg.addEventListener('pointerleave', () => this.#choose(null))
  }

  show(chains: readonly ChainStatus[], work: Snapshot['work'], blocks: readonly ShownBlock[]): void {
    this.#chains = chains
    this.#work = work
    this.#own = new Set(blocks.filter(isInChain).map((block) => nameOf(block)))
    const made = JSON.stringify([chains, work?.chain, work?.height, [...this.#own]])
    if (made !== this.#made) this.#draw()
    this.#made = made
    this.#note()
  }

  #choose(target: EventTarget | null): void {
    const column = target instanceof Element ? target.closest('[data-chain]') : null
    this.#chosen = column === null ? null : Number(column.getAttribute('data-chain'))
    for (const each of this.#svg.querySelectorAll('[data-chain]')) each.classList.toggle('chosen', each === column)
    this.#note()
  }

  /** One line on the chain that is pointed at, else on the one that is mined. */
  #note(): void {
    const { status, isMined } = this.#noted()
    if (status === undefined) {
      write('braid-note', 'No chain is mined now.')
      return
    }
    const { chain, height, difficulty } = status
    const known = difficulty === null ? '' : `, difficulty ${difficultyText(difficulty)}`
    write('braid-note', `Chain ${chain} at height ${grouped(height)}${known}: ${stateText(status, isMined)}.`)
  }

  #noted() {
    const chain = this.#chosen ?? this.#work?.chain
    return { status: this.#chains.find((each) => each.chain === chain), isMined: chain === this.#work?.chain }
  }

  #draw(): void {
    const chains = this.#chains
    if (chains.length === 0) return
    const columns = new Map(chains.map(({ chain }, i) => [chain, i]))
    const top = Math.max(...chains.map(({ height }) => height)) + 1
    const lowest = Math.min(...chains.map(({ height }) => height)) - DEPTH
    const bottom = Math.max(0, lowest, top - MAX_ROWS + 1)
    const room = element('braid').clientWidth - 2 * MARGIN
    const column = Math.min(MOST_COLUMN, Math.max(LEAST_COLUMN, room / Math.max(1, chains.length - 1)))
    const width = Math.round(2 * MARGIN + (chains.length - 1) * column)
    const feet = 2 * MARGIN + (top - bottom) * ROW
    const x = (chain: number) => MARGIN + (columns.get(chain) ?? 0) * column
    const y = (height: number) => MARGIN + (top - height) * ROW
    const seen = { own: this.#own, known: this.#known, work: this.#work }
    const picture: Picture = { chains, x, y, bottom, feet, column, ...seen }
    this.#svg.classList.toggle('narrow', column < NARROW_COLUMN)
    this.#svg.setAttribute('width', String(width))
    this.#svg.setAttribute('height', String(feet + FOOT))
    const blocks = blocksIn(picture)
    this.#svg.replaceChildren(linesOf(picture), dotsOf(picture, blocks), nextOf(picture), feetOf(picture))
    this.#known = new Set(blocks.map(nameOf))
  }
}

interface Picture {
  readonly chains: readonly ChainStatus[]
  readonly x: (chain: number) => number
  readonly y: (height: number) => number
  /** The lowest height that is shown. */
  readonly bottom: number
  /** Where the blocks end. */
  readonly feet: number
  /** Width of a column. */
  readonly column: number
  /** Names of our own blocks, and of those in the picture before. */
  readonly own: ReadonlySet<string>
  readonly known: ReadonlySet<string>
  readonly work: Snapshot['work']
}

/** What a chain is at, in words. */
export function stateText({ waitsFor, isWanted }: ChainStatus, isMined: boolean): string {
  if (isMined) return 'mined now'
  if (waitsFor !== null) return `waits for chain ${waitsFor}`
  return isWanted ? 'can be mined' : 'can be mined, and is not wanted here'
}

const nameOf = ({ chain, height }: BlockSpot) => `${chain}/${height}`

function isInChain({ state }: ShownBlock): boolean {
  return state === 'confirmed' || state === 'acknowledged' || state === 'unconfirmed'
}

function blocksIn({ chains, bottom }: Picture): BlockSpot[] {
  return chains.flatMap(({ chain, height }) => {
    const count = Math.max(0, height - bottom + 1)
    return Array.from({ length: count }, (_, i) => ({ chain, height: bottom + i }))
  })
}

/** From each block to those that it refers to, one row below. */
function linesOf({ chains, x, y, bottom }: Picture): SVGElement {
  let path = ''
  for (const { chain, height, adjacents } of chains) {
    for (let row = bottom + 1; row <= height; row++) {
      for (const other of [chain, ...adjacents]) path += `M${x(chain)} ${y(row)}${curve(x(chain), x(other), y(row))}`
    }
  }
  return draw('path', { class: 'strands', d: path })
}

/** A soft strand down to the row below. */
function curve(from: number, to: number, top: number): string {
  const [half, end] = [top + ROW / 2, top + ROW]
  return from === to ? `V${end}` : `C${from} ${half} ${to} ${half} ${to} ${end}`
}

function dotsOf({ x, y, own, known }: Picture, blocks: readonly BlockSpot[]): SVGElement {
  const group = draw('g', { class: 'dots' })
  for (const { chain, height } of blocks) {
    const name = nameOf({ chain, height })
    const isOwn = own.has(name)
    const kinds = [...(isOwn ? ['own'] : []), ...(known.size > 0 && !known.has(name) ? ['fresh'] : [])]
    group.append(draw('circle', { cx: x(chain), cy: y(height), r: isOwn ? 6 : 4.5, class: kinds.join(' ') }))
  }
  return group
}

/** The block that may come next on each chain, and what the mined one refers to. */
function nextOf({ chains, x, y, work, bottom }: Picture): SVGElement {
  const group = draw('g', { class: 'next' })
  for (const { chain, height, waitsFor, adjacents } of chains) {
    if (height < bottom) continue
    const isMined = chain === work?.chain
    const [cx, cy] = [x(chain), y(height + 1)]
    if (isMined) {
      const path = [chain, ...adjacents].map((other) => `M${cx} ${cy}${curve(cx, x(other), cy)}`).join('')
      group.append(draw('path', { class: 'mined', d: path }), draw('circle', { cx, cy, r: 10, class: 'halo' }))
    }
    const kind = isMined ? 'mined' : waitsFor === null ? 'open' : 'blocked'
    if (kind === 'blocked') group.append(draw('path', { class: kind, d: `M${cx - 3.5} ${cy}h7` }))
    else group.append(draw('circle', { cx, cy, r: isMined ? 6 : 4.5, class: kind }))
  }
  return group
}

/** Under each chain its number, and a bar for its difficulty beside the others. */
function feetOf({ chains, x, feet, column: width, work }: Picture): SVGElement {
  const group = draw('g', { class: 'feet' })
  const most = Math.max(...chains.map(({ difficulty }) => difficulty ?? 0))
  for (const { chain, difficulty } of chains) {
    const kind = chain === work?.chain ? 'mined' : ''
    const column = draw('g', { 'data-chain': chain, class: kind })
    column.append(draw('rect', { class: 'reach', x: x(chain) - width / 2, y: 0, width, height: feet + FOOT }))
    if (difficulty !== null && most > 0) {
      const height = (18 * difficulty) / most
      column.append(draw('rect', { class: 'bar', x: x(chain) - 5, y: feet + 20 - height, width: 10, height, rx: 1.5 }))
    }
    column.append(draw('text', { x: x(chain), y: feet + 37 }, String(chain)))
    group.append(column)
  }
  return group
}
