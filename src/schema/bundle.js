/** Puts typebox.js and all that it imports into one file, dist/src/schema/typebox.js. A step of `npm run build`. */
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const file = fileURLToPath(new URL('../../dist/src/schema/typebox.js', import.meta.url))
await build({ input: file, platform: 'node', output: { file, format: 'esm' } })
