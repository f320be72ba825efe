/** Lies about solutions. */
import { liesAt } from '../lie.ts'
import type { Exchange, ProxyReply } from '../proxy.ts'
import {
  alters,
  breaksOff,
  closes,
  dribbles,
  hangs,
  late,
  losesAnswer,
  resets,
  says,
  sometimes,
  speaks,
  streams,
  takesButSays,
} from '../responders.ts'

/** The node never receives the solution. */
const notTaken = {
  'a solution is thanked for with 204, and thrown away': () => says(204),
  'a solution is thanked for with 200, and thrown away': () => says(200),
  'a solution is thanked for with 202, and thrown away': () => says(202, 'queued'),
  'a solution is thanked for with a page, and thrown away': () => says(200, '<html>OK</html>'),
  'each second solution is thrown away': () => sometimes(0.5, says(204)),
  'a solution is refused with 400 for its encoding': () => says(400, 'Decoding error: not enough bytes'),
  'a solution is refused with 400 for its work': () => says(400, 'Invalid solved work: Invalid POW hash'),
  'a solution is refused with 400 for its payload': () =>
    says(400, 'Invalid solved work: Invalid payload hash. Expected: a, Got: b'),
  'a solution is refused with 400 and no reason': () => says(400),
  'a solution is refused with 400 and escape sequences': () => says(400, '\x1b[31mPOW\x1b]0;pwned\x07\r\n\u202e\x00'),
  'a solution is refused with 400 and a text of 3 MB': () => says(400, 'pow '.repeat(750_000)),
  'a solution is refused with another reason each time': () => (exchange: Exchange) =>
    says(400, `reason ${exchange.number}`)(exchange),
  'a solution is refused with 401': () => says(401),
  'a solution is refused with 403': () => says(403, 'Unauthorized Miner: k:00'),
  'a solution is refused with 404, as if it were known': () => says(404, 'No associated Payload'),
  'a solution is refused with 404 and a page': () => says(404, '<html>404</html>'),
  'a solution is refused with 405': () => says(405),
  'a solution is refused with 413': () => says(413),
  'a solution is refused with 429': () => says(429),
  'a solution is redirected with 301': () => says(301, '', { location: '/elsewhere' }),
  'a solution is redirected to itself with 307': () => says(307, '', { location: '' }),
  'a solution is answered with 500': () => says(500),
  'a solution is answered with 502': () => says(502),
  'a solution is answered with 503': () => says(503),
  'a solution is answered by closing the connection': () => closes,
  'a solution is answered by resetting the connection': () => resets,
  'a solution is answered with garbage': () => speaks('garbage\r\n\r\n'),
  'a solution is never answered': () => hangs,
  'a solution is answered with an endless stream': () => streams('ok\n\n', 20),
}

/** The node receives the solution and adds its block. */
const taken = {
  'the answer to a solution is lost': () => losesAnswer,
  'the answer to a solution breaks off': () => breaksOff,
  'the answer to a solution comes a second late': () => late(1_000),
  'the answer to a solution comes bit by bit': () => dribbles(5),
  'a solution is taken, but answered with 500': () => takesButSays(says(500)),
  'a solution is taken, but answered with 503': () => takesButSays(says(503)),
  'a solution is taken, but refused with 404': () => takesButSays(says(404, 'No associated Payload')),
  'a solution is taken, but refused with 400': () => takesButSays(says(400, 'Invalid solved work: Invalid POW hash')),
  'a solution is taken, but redirected': () => takesButSays(says(302, '', { location: '/' })),
  'a solution is handed on twice':
    () =>
    async ({ forward }: Exchange): Promise<ProxyReply> => {
      const first = await forward()
      await forward()
      return first
    },
  'a solution is thanked for with 201 and a body': () => alters((answer) => ({ ...answer, status: 201 })),
  'a solution is thanked for at once, and handed on half a second later': () => (exchange: Exchange) => {
    // Other requests are answered meanwhile.
    setTimeout(() => exchange.forward().catch(() => undefined), 500)
    return says(200)(exchange)
  },
}

export const solvedLies = [...liesAt(['solved'], 'recovers', notTaken), ...liesAt(['solved'], 'keepsMining', taken)]
