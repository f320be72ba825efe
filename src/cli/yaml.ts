/** The YAML library, loaded on first use: most runs read no file, and its 70 modules take 30 ms and 8 MB. */
import { createRequire } from 'node:module'

export const yaml = () => createRequire(import.meta.url)('yaml') as typeof import('yaml')
