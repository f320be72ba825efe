/** Build step of `npm run build`: bundles typebox.js and its imports into dist/src/schema/typebox.js. */
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const file = fileURLToPath(new URL('../../dist/src/schema/typebox.js', import.meta.url))
await build({ input: file, platform: 'node', output: { file, format: 'esm' } })
