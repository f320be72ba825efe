/** Commands with long lists, texts and objects, and commands that evaluate many small steps. */
import { again, dataOf, type HostileCase, listOf, long, moduleOf, onData } from './case.ts'

const time = '(time "2020-01-01T00:00:00Z")'
const fields = (count: number) => () => JSON.stringify({ o: Object.fromEntries(listOf(count, (i) => [`f${i}`, i])) })
const LIST = '(l (make-list 100000 1))'
const worst = (half: number) => `${long(half, 'a')}b${long(half, 'a')}`
const table = (more: string) => `(defschema s a:integer) (deftable t:{s}) ${more}`
const rows = (more: string) => [
  `${moduleOf('m', table(more))} (create-table m.t) (acquire-module-admin m) (insert m.t "k" {"a": 1})`,
]
/** A module with a table of rows with fields of any type. */
const free = (row: string, more: string) => {
  const names = [...row.matchAll(/"(\w+)":/g)].map(([, name]) => name)
  const module = moduleOf('m', `(defschema s ${names.join(' ')}) (deftable t:{s}) ${more}`)
  return [`${module} (create-table m.t) (acquire-module-admin m) (insert m.t "k" ${row})`]
}
const wide = (count: number) => `{${listOf(count, (i) => `"f${i}": ${i}`).join(',')}}`

const texts: readonly HostileCase[] = [
  onData('length-long', 's', long(1_000_000), '(length s)'),
  onData('length-surrogates', 's', '😀'.repeat(400_000), '(length s)'),
  { name: 'length-joined', code: again(`(s (concat (make-list 2000 "${long(100, 'é')}")))`, '(length s)') },
  {
    name: 'contains-worst',
    as: 'local',
    data: () => JSON.stringify({ p: worst(100_000), s: long(400_000, 'a') }),
    code: again('(p (read-msg "p")) (s (read-msg "s"))', '(contains p s)'),
  },
  {
    name: 'contains-one-call',
    as: 'local',
    data: () => JSON.stringify({ p: worst(300_000), s: long(1_200_000, 'a') }),
    code: '(contains (read-msg "p") (read-msg "s"))',
  },
  {
    name: 'contains-own',
    code: again(`(p "${worst(2000)}") (s (concat (make-list 20 "${long(1000, 'a')}")))`, '(contains p s)'),
  },
  { name: 'contains-in-list', code: again(LIST, '(contains 2 l)') },
  onData('take-text', 's', long(1_000_000), '(take 1 s)'),
  { name: 'format-many', code: again(`(l (make-list 4000 "x")) (t "${long(4000, '{}')}")`, '(format t l)') },
  onData('format-template', 's', long(1_000_000, '{'), '(format s [])'),
  { name: 'concat-many-empty', code: again('(l (make-list 100000 ""))', '(concat l)') },
  onData('str-to-list', 's', long(1_000_000), '(str-to-list s)'),
  { name: 'join-texts', code: '(fold (lambda (a i) (+ a a)) "x" (enumerate 1 60))' },
  { name: 'join-one-by-one', code: '(fold (lambda (a i) (+ a "xxxxxxxxxx")) "x" (enumerate 1 100000))' },
  onData('compare-texts', 's', long(1_000_000), '(< s s)'),
  onData('base64-decode', 's', long(1_000_000, 'A'), '(base64-decode s)'),
  { name: 'keccak-empty-pieces', code: again('(l (make-list 100000 ""))', '(hash-keccak256 l)') },
  onData(
    'keccak-data-pieces',
    'l',
    listOf(400_000, () => ''),
    '(hash-keccak256 l)',
  ),
  {
    name: 'parse-time-two-ways',
    code: again(`(f "${long(500, '%k')}") (s "${long(500, ' 1')}")`, '(try 1 (parse-time f s))'),
  },
  {
    name: 'parse-time-years',
    code: again(`(f "${long(200, '%Y')}x") (s "${long(900, '1')}")`, '(try 1 (parse-time f s))'),
  },
  {
    name: 'parse-time-spaces',
    code: again(`(f "${long(500, '% ')}") (s "${long(900, ' ')}")`, '(try 1 (parse-time f s))'),
  },
  {
    name: 'parse-time-words',
    code: again(`(f "${long(400, '%B')}") (s "${long(100, 'January')}")`, '(try 1 (parse-time f s))'),
  },
  { name: 'format-time-long', code: again(`(t ${time}) (f "${long(450, '%c')}")`, '(format-time f t)') },
  { name: 'time-of-text', code: again('', time) },
  onData('hash-long', 's', long(1_000_000), '(hash s)'),
]

const lists: readonly HostileCase[] = [
  { name: 'typeof-nested', code: again(`(l ${long(8, '[')}(make-list 5000 1)${long(8, ']')})`, '(typeof l)') },
  { name: 'typeof-wide', code: again('(a [1]) (b [a a a a]) (c [b b b b]) (d [c c c c]) (e [d d d d])', '(typeof e)') },
  onData(
    'sort-empty-by-many-fields',
    'l',
    listOf(400_000, () => 'f'),
    '(sort l [])',
  ),
  {
    name: 'sort-by-missing-fields',
    code: again('(f (make-list 1000 "f")) (l (make-list 100 {"a": 1}))', '(sort f l)'),
  },
  { name: 'sort-many', code: again('(l (enumerate 1 20000))', '(sort l)') },
  { name: 'reverse', code: again(LIST, '(reverse l)') },
  { name: 'at-far', code: again(LIST, '(at 99999 l)') },
  { name: 'take-of-list', code: again(LIST, '(take 1 l)') },
  { name: 'list-of-long-list', code: again(LIST, '[l]') },
  { name: 'list-doubled', code: '(fold (lambda (a i) [a a a a]) 0 (enumerate 1 200))' },
  {
    name: 'equal-doubled',
    code: `(let* ((d (fold (lambda (a i) [a a]) 0 (enumerate 1 17)))) ${long(200, '(= d d)')})`,
  },
  { name: 'make-list-many', code: again('', '(make-list 1000 1)') },
  { name: 'enumerate-many', code: again('', '(enumerate 1 1000)') },
  { name: 'zip-many', code: again(LIST, '(zip (lambda (a b) 1) l l)') },
  { name: 'filter-all', code: again(LIST, '(filter (= 2) l)') },
  { name: 'map-partial', code: again(LIST, '(map (+ 1) l)') },
  { name: 'take-fields', as: 'local', data: fields(20_000), code: again('(o (read-msg "o"))', '(take ["f1"] o)') },
  { name: 'drop-fields', as: 'local', data: fields(20_000), code: again('(o (read-msg "o"))', '(drop ["f1"] o)') },
  { name: 'remove-field', as: 'local', data: fields(20_000), code: again('(o (read-msg "o"))', '(remove "f1" o)') },
  { name: 'merge-objects', as: 'local', data: fields(20_000), code: again('(o (read-msg "o"))', '(+ {"a": 1} o)') },
  {
    name: 'keep-removed',
    as: 'local',
    data: fields(60_000),
    code: '(let ((o (read-msg "o"))) (length (map (lambda (i) (remove "f1" o)) (enumerate 1 100000))))',
  },
  {
    name: 'keep-taken',
    as: 'local',
    data: fields(60_000),
    code: '(let ((o (read-msg "o"))) (length (map (lambda (i) (drop ["f1"] o)) (enumerate 1 100000))))',
  },
  {
    name: 'keep-merged',
    as: 'local',
    data: fields(60_000),
    code: '(let ((o (read-msg "o"))) (length (map (lambda (i) (+ {"a": i} o)) (enumerate 1 100000))))',
  },
  { name: 'keep-lists', code: '(length (map (lambda (i) (make-list 1000 1)) (enumerate 1 100000)))' },
  { name: 'keep-enumerated', code: '(length (map (lambda (i) (enumerate 1 300)) (enumerate 1 100000)))' },
  {
    name: 'keep-reversed',
    as: 'local',
    data: dataOf('s', long(1_000_000)),
    code: '(let ((s (read-msg "s"))) (length (map (lambda (i) (drop 1 s)) (enumerate 1 100000))))',
  },
  { name: 'keep-texts', code: '(length (map (lambda (i) (format "{}" [i])) (enumerate 1 100000)))' },
  {
    name: 'bind-many-fields',
    code: `(let ((o ${wide(500)})) (fold (lambda (a i) (bind o {${listOf(500, (i) => `"f${i}" := v${i}`).join(',')}} i)) 0 (enumerate 1 100000)))`,
  },
  { name: 'object-of-many-fields', code: `(fold (lambda (a i) (at "f1" ${wide(500)})) 0 (enumerate 1 100000))` },
  { name: 'where', as: 'local', data: fields(20_000), code: again('(o (read-msg "o"))', '(where "f1" (= 1) o)') },
  {
    name: 'data-of-many-lists',
    as: 'local',
    data: () => `{"l":[${listOf(600_000, () => '[]').join(',')}]}`,
    code: '(length (read-msg "l"))',
  },
  {
    name: 'data-nested',
    as: 'local',
    data: () => `{"l":${long(240, '[')}${long(240, ']')}}`,
    code: again('(l (read-msg "l"))', '[l]'),
  },
  {
    name: 'data-of-objects',
    as: 'local',
    data: () => `{"l":[${listOf(150_000, () => '{"a":1}').join(',')}]}`,
    code: '(hash (read-msg "l"))',
  },
  { name: 'read-decimal', as: 'local', data: dataOf('n', long(10_000, '7')), code: again('', '(read-decimal "n")') },
  { name: 'read-integer', as: 'local', data: dataOf('n', long(10_000, '7')), code: again('', '(read-integer "n")') },
  { name: 'read-string', as: 'local', data: dataOf('n', long(1_000_000, '7')), code: again('', '(read-string "n")') },
]

const tables: readonly HostileCase[] = [
  {
    name: 'read-many-fields',
    as: 'local',
    before: rows(`(defun go (l) ${again('', '(read t "k" l)')})`),
    data: dataOf(
      'l',
      listOf(100_000, (i) => `g${i}`),
    ),
    code: '(m.go (read-msg "l"))',
  },
  { name: 'read-wide-row', before: free(wide(2000), `(defun go () ${again('', '(read t "k")')})`), code: '(m.go)' },
  {
    name: 'update-large-row',
    before: free(wide(4000), `(defun go () ${again('', '(update t "k" {"f1": 1})')})`),
    code: '(m.go)',
  },
  {
    name: 'write-large-rows',
    before: free(
      '{"a": 1}',
      '(defun go (l) (map (lambda (i) (write t (format "{}" [i]) {"a": l})) (enumerate 1 100000)))',
    ),
    code: '(m.go (make-list 1000 1))',
  },
  {
    name: 'write-huge-number',
    before: free(
      '{"a": 1}',
      '(defun go (l) (map (lambda (i) (write t (format "{}" [i]) {"a": l})) (enumerate 1 100000)))',
    ),
    code: '(m.go (shift 1 100000))',
  },
  {
    name: 'read-missing-rows',
    before: rows(
      `(defun go () (map (lambda (i) (with-default-read t (format "{}" [i]) {"a": 1} {"a" := x} x)) (enumerate 1 100000)))`,
    ),
    code: '(length (m.go))',
  },
  {
    name: 'select-rows',
    as: 'local',
    before: rows(`(defun go () ${again('', '(select t (where "a" (= 1)))')})`),
    code: '(m.go)',
  },
  { name: 'keys-of-rows', as: 'local', before: rows(`(defun go () ${again('', '(keys t)')})`), code: '(m.go)' },
]

const steps: readonly HostileCase[] = [
  { name: 'step-empty-object', code: again('', '{}', 100) },
  { name: 'step-empty-list', code: again('', '[]', 100) },
  { name: 'step-constant', code: again('', '1', 100) },
  { name: 'step-variable', code: again('(v 1)', 'v', 100) },
  { name: 'step-let', code: again('', '(let ((x 1)) x)', 50) },
  { name: 'step-if', code: again('', '(if true 1 2)', 50) },
  { name: 'step-lambda', code: again('', '(lambda (x) x)', 50) },
  { name: 'step-and', code: again('', '(and true (or false true))', 50) },
  { name: 'step-cond', code: again('', '(cond (false 1) (true 2) 3)', 50) },
  { name: 'step-compose', code: again('', '(compose (+ 1) (+ 2) 3)', 50) },
  { name: 'step-constantly', code: again('(v 1)', '(constantly v v)', 50) },
  { name: 'step-try', code: again('', '(try 1 (enforce false "x"))') },
  { name: 'step-try-constant', code: again('', '(try 1 2)', 50) },
  {
    name: 'step-far-variable',
    code: `(let* (${listOf(200, (i) => `(v${i} ${i})`).join(' ')}) (fold (lambda (a i) ${long(50, ' v0')} i) 0 (enumerate 1 100000)))`,
  },
  { name: 'step-member-constant', before: [moduleOf('m', '(defconst C 1)')], code: again('', 'm.C', 100) },
  {
    name: 'step-own-function',
    before: [moduleOf('m', `(defun f () 1) (defun go () ${again('', '(f)', 50)})`)],
    code: '(m.go)',
  },
  {
    name: 'step-typed-function',
    before: [moduleOf('m', `(defun f:integer (a:integer b:string) 1) (defun go () ${again('', '(f 1 "")', 50)})`)],
    code: '(m.go)',
  },
  {
    name: 'step-partial',
    before: [moduleOf('m', `(defun f (a b) 1) (defun go () ${again('', '(map (f 1) [1])', 50)})`)],
    code: '(m.go)',
  },
  {
    name: 'step-typed-list',
    before: [moduleOf('m', `(defun f (l:[integer]) 1) (defun go (l) ${again('', '(f l)')})`)],
    code: '(m.go (make-list 100000 1))',
  },
  { name: 'deep-nesting', code: `${long(240, '(+ 1 ')}1${long(240, ')')}` },
  { name: 'deep-lists', code: again(`(l ${long(240, '[')}${long(240, ']')})`, '[l]') },
  { name: 'code-of-many-forms', as: 'local', code: long(400_000, '1 ') },
  { name: 'code-of-many-calls', as: 'local', code: long(60_000, '(+ 1 1)') },
  { name: 'code-of-a-long-text', as: 'local', code: `(length "${long(1_500_000)}")` },
  { name: 'code-of-a-long-number', as: 'local', code: `(+ 1 ${long(1_500_000, '7')})` },
  {
    name: 'code-of-long-names',
    as: 'local',
    code: `(let* (${listOf(700, (i) => `(${long(1000)}${i} 1)`).join(' ')}) 1)`,
  },
  { name: 'code-of-many-variables', as: 'local', code: `(let* (${listOf(20_000, (i) => `(v${i} 1)`).join(' ')}) 1)` },
  {
    name: 'code-of-far-names',
    as: 'local',
    code: `(let* (${listOf(5000, (i) => `(v${i} 1)`).join(' ')}) ${long(40_000, 'v0 ')})`,
  },
  { name: 'code-of-brackets', as: 'local', code: long(800_000, '[') },
  { name: 'code-of-an-object', as: 'local', code: wide(60_000) },
]

export const listCases: readonly HostileCase[] = [...texts, ...lists, ...tables, ...steps]
