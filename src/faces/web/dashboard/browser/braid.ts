/**
 * Draws the chains as a braid. A column is a chain, a row a height, the highest on top. A dot is a block with lines to
 * its parent and its adjacent parents. A ring is a possible next block.
 */
import type { ChainStatus } from '#mining/source/source.ts'
import { draw, element, write } from '../../kit/dom.ts'
import { difficultyText, groupDigits } from '../../kit/numbers.ts'
import type { ShownBlock, Snapshot } from '../state.ts'

/** Rows below the lowest head. */
const DEPTH = 3
/** Limit of rows; the chains of a network are close together. */
const MAX_ROWS = 9
/** Minimum and maximum column width in pixels. With very many chains the picture scrolls. */
const [LEAST_COLUMN, MOST_COLUMN] = [13, 48]
/** Below this column width, two-digit numbers are smaller. */
const NARROW_COLUMN = 17
const ROW = 38
const MARGIN = 14
/** Height of the difficulty bars and chain numbers. */
const FOOT = 46

interface BlockPlace {
  readonly chain: number
  readonly height: number
}

export class CompactBraid {
  readonly #svg = draw('svg', { role: 'img', 'aria-labelledby': 'braid-note' })
  #chains: readonly ChainStatus[] = []
  #work: Snapshot['work'] = null
  #own: ReadonlySet<string> = new Set()
  /** Inputs of the current picture; it is redrawn only when they change. */
  #made = ''
  /** Blocks of the last picture. New ones fade in. */
  #known = new Set<string>()
  /** The hovered chain. */
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

  /** Describes the hovered chain, or else the mined one, in one line. */
  #note(): void {
    const { status, isMined } = this.#shownStatus()
    if (status === undefined) {
      write('braid-note', 'No chain is mined now.')
      return
    }
    write('braid-note', noteOf(status, isMined ? this.#work : null))
  }

  #shownStatus() {
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
  /** The lowest visible height. */
  readonly bottom: number
  /** Vertical end of the blocks. */
  readonly feet: number
  /** Width of a column. */
  readonly column: number
  /** Hashes of our own blocks, and of the blocks in the last picture. */
  readonly own: ReadonlySet<string>
  readonly known: ReadonlySet<string>
  readonly work: Snapshot['work']
}

/** Describes the state of a chain in words. */
export function stateText({ waitsFor, isWanted }: ChainStatus, isMined: boolean): string {
  if (isMined) return 'mined now'
  if (waitsFor !== null) return `waits for chain ${waitsFor}`
  return isWanted ? 'can be mined' : 'can be mined, but not selected here'
}

/** Describes a chain in a line: the block that is mined, with the figures of the card, else the newest block. */
function noteOf(status: ChainStatus, mined: Snapshot['work']): string {
  const { chain, height } = status
  const difficulty = mined?.difficulty ?? status.difficulty
  const known = difficulty === null ? '' : `, difficulty ${difficultyText(difficulty)}`
  if (mined !== null) return `Chain ${chain} at height ${groupDigits(mined.height)}${known}: mined now.`
  return `Chain ${chain} has height ${groupDigits(height)}${known}: ${stateText(status, false)}.`
}

const nameOf = ({ chain, height }: BlockPlace) => `${chain}/${height}`

function isInChain({ state }: ShownBlock): boolean {
  return state === 'confirmed' || state === 'acknowledged' || state === 'unconfirmed'
}

function blocksIn({ chains, bottom }: Picture): BlockPlace[] {
  return chains.flatMap(({ chain, height }) => {
    const count = Math.max(0, height - bottom + 1)
    return Array.from({ length: count }, (_, i) => ({ chain, height: bottom + i }))
  })
}

/** Draws lines from each block to its parents, one row below. */
function linesOf({ chains, x, y, bottom }: Picture): SVGElement {
  let path = ''
  for (const { chain, height, adjacents } of chains) {
    for (let row = bottom + 1; row <= height; row++) {
      for (const other of [chain, ...adjacents]) path += `M${x(chain)} ${y(row)}${curve(x(chain), x(other), y(row))}`
    }
  }
  return draw('path', { class: 'strands', d: path })
}

/** Draws a curve to the row below. */
function curve(from: number, to: number, top: number): string {
  const [half, end] = [top + ROW / 2, top + ROW]
  return from === to ? `V${end}` : `C${from} ${half} ${to} ${half} ${to} ${end}`
}

function dotsOf({ x, y, own, known }: Picture, blocks: readonly BlockPlace[]): SVGElement {
  const group = draw('g', { class: 'dots' })
  for (const { chain, height } of blocks) {
    const name = nameOf({ chain, height })
    const isOwn = own.has(name)
    const kinds = [...(isOwn ? ['own'] : []), ...(known.size > 0 && !known.has(name) ? ['fresh'] : [])]
    group.append(draw('circle', { cx: x(chain), cy: y(height), r: isOwn ? 6 : 4.5, class: kinds.join(' ') }))
  }
  return group
}

/** Draws the possible next block of each chain, and the parents of the mined one. */
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

/** Draws each chain's number and its relative difficulty as a bar. */
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
