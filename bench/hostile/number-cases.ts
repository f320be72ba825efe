/** Commands that compute with large numbers. */
import { again, type HostileCase, long } from './case.ts'

const PLACES = long(254, '0')
/** A decimal near 1 with 255 places: 254 zeros, then `tail`. */
const withPlaces = (tail: string) => `1.${PLACES}${tail}`
/** A decimal of 490,000 bits with 255 places. It is message data, which costs no gas. */
const HUGE_DECIMAL = '(h (read-msg "h")) (hd (read-msg "hd"))'
const hugeDecimal: Pick<HostileCase, 'as' | 'data'> = {
  as: 'local',
  data: () => `{"h": ${long(148_000, '7')}, "hd": ${long(147_000, '7')}.${PLACES}1}`,
}
/** An integer of 400,000 bits, made by shifts, for less gas than by a power. */
const HUGE = '(h (shift 1 400000))'

export const numberCases: readonly HostileCase[] = [
  { name: 'pow0-huge', code: again(HUGE_DECIMAL, '(^ hd 0.0)'), ...hugeDecimal },
  { name: 'pow0', code: again(`(d ${withPlaces('0')})`, '(^ d 0.0)') },
  { name: 'div-whole', code: again('', '(/ 1.0 1.0)') },
  { name: 'div-thirds', code: again('', '(/ 1.0 3.0)') },
  { name: 'mul', code: again(`(d 1.${long(127, '0')})`, '(* d d)') },
  { name: 'mul-rounded', code: again(`(d ${withPlaces('1')})`, '(* d d)') },
  { name: 'days', code: again(`(d ${withPlaces('0')})`, '(days d)') },
  { name: 'minutes-of-one', code: again(`(d ${withPlaces('1')})`, '(minutes d)') },
  { name: 'add-time', code: again(`(t (time "2020-01-01T00:00:00Z")) (d ${withPlaces('0')})`, '(add-time t d)') },
  { name: 'diff-time', code: again('(t (time "2020-01-01T00:00:00Z"))', '(diff-time t t)') },
  {
    name: 'distinct-decimals',
    code: again(`(l (make-list 1000 ${withPlaces('0')}))`, '(distinct l)'),
  },
  { name: 'compare-decimals', code: again(`(d ${withPlaces('0')}) (e 1.0)`, '(< d e)') },
  { name: 'compare-huge-decimals', code: again(HUGE_DECIMAL, '(< hd h)'), ...hugeDecimal },
  { name: 'compare-huge', code: again(HUGE, '(< h h)') },
  { name: 'equal-huge', code: again(`${HUGE} (k (+ h 1))`, '(= h k)') },
  { name: 'list-of-huge', code: again(HUGE, '[h]') },
  { name: 'list-of-many-huge', code: again(HUGE, `[${long(12, 'h ')}]`) },
  { name: 'object-of-huge', code: again(HUGE, '{"a": h}') },
  { name: 'take-list-of-huge', code: again(`${HUGE} (l [h h])`, '(take 1 l)') },
  {
    name: 'token-of-huge',
    before: [`(module m G (defcap G () true) (defcap C (a:integer) true) (defun loop () ${again(HUGE, '(C h)')}))`],
    code: '(m.loop)',
  },
  { name: 'list-of-power-of-two', code: again('(h (^ 2 499999))', '[h]') },
  { name: 'list-of-all-bits', code: again('(h (- (^ 2 499999) 1))', '[h]') },
  { name: 'list-of-data-number', code: again('(h (read-msg "n"))', '[h]'), ...numberData(1_900_000) },
  { name: 'negate-data-number', code: again('(h (read-msg "n"))', '(- h)'), ...numberData(1_900_000) },
  { name: 'list-of-data-digits', code: again('(h (read-msg "n"))', '[h]'), ...numberData(150_000) },
  { name: 'many-data-numbers', code: '(length (read-msg "n"))', ...manyNumbers(12, 150_000) },
  { name: 'show-data-number', code: again('(h (read-msg "n"))', '(show h)'), ...numberData(150_000) },
  { name: 'negate-500k-bits', code: again('(h (shift 1 499999))', '(- h)') },
  { name: 'abs-huge', code: again('(h (- (shift 1 499999)))', '(abs h)') },
  { name: 'dec-huge', code: again('(h (shift 1 499999))', '(dec h)') },
  { name: 'not-huge', code: again('(h (shift 1 499999))', '(~ h)') },
  { name: 'negate-huge-decimal', code: again(HUGE_DECIMAL, '(negate hd)'), ...hugeDecimal },
  { name: 'abs-huge-decimal', code: again(HUGE_DECIMAL, '(abs hd)'), ...hugeDecimal },
  { name: 'less-huge-decimals', code: again(HUGE_DECIMAL, '(< hd hd)'), ...hugeDecimal },
  { name: 'equal-huge-decimals', code: again(HUGE_DECIMAL, '(= hd hd)'), ...hugeDecimal },
  { name: 'max-huge-decimals', code: again(HUGE_DECIMAL, '(sort [hd hd h])'), ...hugeDecimal },
  { name: 'sqrt-huge-decimal', code: again(HUGE_DECIMAL, '(try 1 (sqrt hd))'), ...hugeDecimal },
  { name: 'exp-huge-decimal', code: again(HUGE_DECIMAL, '(exp (- 0.0 hd))'), ...hugeDecimal },
  { name: 'shift-right-huge', code: again('(h (shift 1 499999))', '(shift h (- 1))') },
  { name: 'and-huge', code: again('(h (shift 1 499999))', '(& h 1)') },
  { name: 'add-huge', code: again('(h (shift 1 499999))', '(+ h 1)') },
  { name: 'mul-huge', code: again('(h (shift 1 240000))', '(* h h)') },
  { name: 'mod-huge', code: again('(h (shift 1 499999)) (k (- (shift 1 250000) 1))', '(mod h k)') },
  { name: 'round-huge', code: again(HUGE_DECIMAL, '(round hd 100)'), ...hugeDecimal },
  { name: 'floor-huge', code: again(HUGE_DECIMAL, '(floor hd)'), ...hugeDecimal },
  { name: 'pow-minus-huge', code: again('(h (- (dec (shift 1 499999))))', '(^ 2.0 h)') },
  { name: 'pow-to-huge', code: again('(h (dec (shift 1 499999)))', '(^ 0.5 h)') },
  { name: 'pow-of-huge', code: again(HUGE_DECIMAL, '(^ hd (- 1.0))'), ...hugeDecimal },
  { name: 'log-huge-base', code: again('(h (dec (shift 1 1000)))', '(log h 2.0)') },
  { name: 'log-huge', code: again('(h (+ (dec (shift 1 1000)) 0.1))', '(ln h)') },
  { name: 'exp-minus-huge', code: again('(h (- (dec (shift 1 499999))))', '(exp h)') },
  { name: 'exp-tiny', code: again('', '(exp (- 700.0))') },
  { name: 'sqrt', code: again('', '(sqrt 2.0)') },
  { name: 'pow-of-two-doubled', code: '(fold (lambda (a i) (* a a)) 2 (enumerate 1 100))' },
  { name: 'str-to-int', code: again(`(s "${long(512, '9')}")`, '(str-to-int s)') },
  { name: 'str-to-int-16', code: again(`(s "${long(512, 'f')}")`, '(str-to-int 16 s)') },
  { name: 'str-to-int-64', code: again(`(s "${long(512, 'A')}")`, '(str-to-int 64 s)') },
  { name: 'int-to-str', code: again('(h (shift 1 60000))', '(int-to-str 10 h)') },
  { name: 'int-to-str-64', code: again('(h (shift 1 60000))', '(int-to-str 64 h)') },
  { name: 'show-huge', code: again('(h (shift 1 499999))', '(show h)') },
  { name: 'result-of-huge', code: '(make-list 50 (shift 1 400000))' },
  { name: 'hash-huge', code: again('(h (shift 1 60000))', '(hash h)') },
  { name: 'keep-negated', code: '(let ((h (shift 1 499999))) (map (lambda (i) (- h)) (enumerate 1 400000)))' },
  {
    name: 'keep-negated-lists',
    code: '(let ((h (shift 1 499999))) (map (lambda (i) [(- h) (- h) (- h)]) (enumerate 1 100000)))',
  },
  {
    name: 'keep-negated-each',
    code: '(let ((h (shift 1 499999))) (length (map (lambda (i) [(- h)]) (enumerate 1 100000))))',
  },
  {
    name: 'keep-negated-data',
    as: 'local',
    code: '(let ((h (read-msg "n"))) (length (map (lambda (i) [(- h)]) (enumerate 1 100000))))',
    ...numberData(150_000),
  },
]

function numberData(digits: number): Pick<HostileCase, 'as' | 'data'> {
  return { as: 'local', data: () => `{"n": ${long(digits, '7')}}` }
}

function manyNumbers(count: number, digits: number): Pick<HostileCase, 'as' | 'data'> {
  return { as: 'local', data: () => `{"n": [${new Array(count).fill(long(digits, '7')).join(',')}]}` }
}
