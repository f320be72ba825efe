/** `npm run assembly`: writes the generated headers of the native kernels. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { headers } from './emit.ts'

const folder = fileURLToPath(new URL('../../../src/mining/engine/cpu/native/', import.meta.url))
for (const [name, text] of Object.entries(headers())) writeFileSync(`${folder}${name}.h`, text)
