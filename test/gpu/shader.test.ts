/** shaders/search.wgsl on a software driver. */
import { afterAll, describe } from 'vitest'
import { batchConformance } from '../conformance/gpu.ts'
import { BatchServer } from './batch-server.ts'
import { testDriver } from './driver.ts'

const { env } = await testDriver()

describe.skipIf(env === null)('shader', () => {
  let server: BatchServer | null = null
  const started = () => {
    server ??= new BatchServer(env ?? {})
    return server
  }
  afterAll(() => server?.close())
  batchConformance((request) => started().run(request))
})
