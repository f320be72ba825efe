/** The text of the shader, from its file beside the compiled code. */
import { readFileSync } from 'node:fs'

/** Compiled files lie in dist/, one level further down. */
const SHADER_FILE = new URL(
  import.meta.url.endsWith('.ts') ? '../../../shaders/search.wgsl' : '../../../../shaders/search.wgsl',
  import.meta.url,
)

export function shaderText(): string {
  return readFileSync(SHADER_FILE, 'utf8')
}
