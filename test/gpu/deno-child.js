/** For deno: runs the batches on stdin, one JSON object a line, and prints the words of each result. */
import './page.js'

let rest = ''
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) console.log(JSON.stringify(await runBatch(JSON.parse(line))))
}
