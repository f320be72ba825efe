import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const main = fileURLToPath(new URL('../../dist/test/sim/main.js', import.meta.url))
const run = (...options: string[]) => promisify(execFile)(process.execPath, [main, ...options])

it('the simulation runs seeds in several processes, each seed once', async () => {
  const { stdout } = await run('--seeds', '8', '--from', '6', '--jobs', '3')
  expect(stdout).toMatch(/^8 of 8 seeds, [\d.]+ a second, 0 failed$/m)
  expect(stdout).toMatch(/^3 processes, memory of the largest: \d+ MiB$/m)
  const families = [...stdout.matchAll(/^(\w+): \d+ of (\d+) seeds recovered later/gm)]
  expect(Object.fromEntries(families.map(([, family, seeds]) => [family, Number(seeds)]))).toEqual({
    answers: 2,
    connections: 2,
    streams: 1,
    chains: 1,
    outages: 1,
    everything: 1,
  })
})

it('the simulation refuses an invalid number of seeds, and says what is valid', async () => {
  const error = "error: option '--seeds <n>' argument 'many' is invalid. It takes a whole number, 1 or more.\n"
  await expect(run('--seeds', 'many')).rejects.toMatchObject({ code: 2, stderr: error })
})
