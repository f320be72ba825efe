/** Reads the text of the shader. */
import { readFileSync } from 'node:fs'

/** Compiled files are in dist/, one level deeper. */
const SHADER_FILE = new URL(
  import.meta.url.endsWith('.ts') ? '../../../../shaders/search.wgsl' : '../../../../../shaders/search.wgsl',
  import.meta.url,
)

export function shaderText(): string {
  return readFileSync(SHADER_FILE, 'utf8')
}
