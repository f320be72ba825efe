/** The shader through another compiler, naga, if deno, which includes it, is installed. */
import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { batchConformance } from '../conformance/gpu.ts'
import { describeWith } from '../needs.ts'
import { driverLack, testDriver } from './driver.ts'
import { runInPage } from './page-request.ts'

const env = (await testDriver())?.env ?? null
const isThere = spawnSync('deno', ['--version']).status === 0
const lack = isThere ? driverLack() : 'deno is not installed: https://docs.deno.com tells how'

describeWith(lack, 'shader in deno', () => {
  const program = fileURLToPath(new URL('./deno-child.js', import.meta.url))
  const child = spawn('deno', ['run', '--unstable-webgpu', program], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  afterAll(() => void child.kill('SIGKILL'))

  batchConformance((request) =>
    runInPage(request, async (text) => {
      child.stdin.write(`${text}\n`)
      const { value, done } = await answers.next()
      if (done) throw new Error('deno died')
      return JSON.parse(value) as number[]
    }),
  )
})
