/** Runs a real miner on its embedded network and captures its console and dashboard. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { startInTerminal, stopTerminals } from '../../test/cli/terminal.ts'
import type { Browser, Page } from '../../test/gpu/chromium.ts'
import { consoleHtml } from './console.ts'

export interface Captured {
  /** Console lines as HTML. */
  readonly console: string
  /** The dashboard as PNG. */
  readonly dashboard: Buffer
}

export interface Sizes {
  /** Size of the terminal in characters. */
  readonly columns: number
  readonly rows: number
  /** Size of the dashboard in CSS pixels, and image pixels per CSS pixel. */
  readonly width: number
  readonly height: number
  readonly scale: number
}

/** The default address of the dashboard, so that the picture shows a first run. */
const ADDRESS = '127.0.0.1:4148'
export const DASHBOARD = `http://${ADDRESS}/`
/** Minimum height of each chain; the dashboard draws the newest blocks. */
const MIN_HEIGHT = 8
/** Initial time span of the chart. */
const CHART_MS = 5 * 60_000
const POLL_MS = 250

/** Mines until chart and braid are full. Throws Error if the miner ends first. */
export async function capture(browser: Browser, sizes: Sizes): Promise<Captured> {
  const { columns, rows } = sizes
  const miner = startInTerminal(['mine', '--http', ADDRESS], { columns, rows })
  const ended = miner.ended.then((code): never => {
    throw new Error(`newcut mine ended with code ${code}:\n${miner.lines().join('\n')}`)
  })
  try {
    const page = await Promise.race([ended, openDashboard(browser, sizes)])
    await Promise.race([ended, untilAlive()])
    const dashboard = await page.screenshot()
    return { console: consoleHtml(miner.screen()), dashboard }
  } finally {
    ended.catch(() => undefined)
    stopTerminals()
  }
}

async function openDashboard(browser: Browser, { width, height, scale }: Sizes): Promise<Page> {
  const look = { colorScheme: 'dark', locale: 'en-GB' } as const
  const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: scale, ...look })
  while ((await page.goto(DASHBOARD).catch(() => null)) === null) await sleep(POLL_MS)
  return page
}

async function untilAlive(): Promise<void> {
  for (;;) {
    const answer = await fetch(`${DASHBOARD}api/summary`)
    const { chains = [], uptimeMs } = (await answer.json()) as Snapshot
    const isFull = chains.length > 0 && chains.every(({ height }) => height >= MIN_HEIGHT)
    if (isFull && uptimeMs >= CHART_MS) return
    await sleep(POLL_MS)
  }
}
