/** Preloaded with loaded.mjs: stderr is a terminal, and the file LOADED says after which modules it gets its first text. */
import { appendFileSync } from 'node:fs'
import './loaded.mjs'

const { stderr } = process
const write = stderr.write.bind(stderr)
stderr.isTTY = true
stderr.columns = 80
stderr.write = (text, ...rest) => {
  appendFileSync(process.env.LOADED, `wrote ${JSON.stringify(text)}\n`)
  return write(text, ...rest)
}
