/** The root folder; compiled files lie one level deeper than their sources. */
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../' : '../../', import.meta.url))
