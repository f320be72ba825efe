/** Prints programs, and notes in each node the line where its text begins. */
import type { Def, Expr, FaceDef, Form, Meta, Param, Type, Use } from './tree.ts'

/** A line that is longer gets a break before the next argument. */
const WIDTH = 60

/** The text of forms. Sets the lines of their nodes. */
export function printForms(forms: readonly Form[]): string {
  const printer = new Printer()
  for (const form of forms) {
    printer.form(form)
    printer.newline()
  }
  return printer.text
}

export function printType(type: Type): string {
  switch (type.t) {
    case 'list-of':
      return `[${printType(type.of)}]`
    case 'object-of':
      return `object{${type.schema}}`
    case 'table-of':
      return `table{${type.schema}}`
    case 'module-of':
      return `module{${type.interfaces.join(', ')}}`
    default:
      return type.t
  }
}

export function printExpr(expr: Expr): string {
  const printer = new Printer()
  printer.expr(expr)
  return printer.text
}

class Printer {
  text = ''
  #line = 0
  #column = 0

  newline(): void {
    this.text += '\n'
    this.#line++
    this.#column = 0
  }

  form(form: Form): void {
    switch (form.f) {
      case 'expr':
        this.expr(form.expr)
        return
      case 'use':
        this.#use(form)
        return
      case 'module': {
        form.line = this.#line
        const { governance } = form
        this.#put(`(module ${form.name} `)
        this.#put('keyset' in governance ? `"${governance.keyset}"` : governance.capability)
        this.#members([
          ...form.implemented.map((name) => () => this.#put(`(implements ${name})`)),
          ...form.uses.map((use) => () => this.#use(use)),
          ...form.defs.map((def) => () => this.#def(def)),
        ])
        return
      }
      case 'interface':
        form.line = this.#line
        this.#put(`(interface ${form.name}`)
        this.#members([
          ...form.uses.map((use) => () => this.#use(use)),
          ...form.defs.map((def) => () => this.#def(def)),
        ])
    }
  }

  expr(expr: Expr): void {
    expr.line = this.#line
    switch (expr.e) {
      case 'var':
        this.#put(expr.name)
        return
      case 'integer':
        this.#put(String(expr.value))
        return
      case 'decimal':
        this.#put(expr.text)
        return
      case 'string':
        this.#put(`"${expr.value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`)
        return
      case 'bool':
        this.#put(String(expr.value))
        return
      case 'unit':
        this.#put('()')
        return
      case 'app':
        this.#put('(')
        this.expr(expr.head)
        this.#exprs(expr.args)
        this.#put(')')
        return
      case 'binding':
        this.#put('{ ')
        expr.fields.forEach(([field, param], i) => {
          this.#put(`${i === 0 ? '' : ', '}"${field}" := `)
          this.#param(param)
        })
        this.#put(' }')
        this.#exprs(expr.body)
        return
      case 'lambda':
        this.#put('(lambda ')
        this.#params(expr.params)
        this.#exprs(expr.body)
        this.#put(')')
        return
      case 'let':
        this.#put(expr.star ? '(let* (' : '(let (')
        for (const [param, value] of expr.binders) {
          this.#put('(')
          this.#param(param)
          this.#gap()
          this.expr(value)
          this.#put(')')
        }
        this.#put(')')
        this.#exprs(expr.body)
        this.#put(')')
        return
      case 'list':
        this.#put('[')
        this.#exprs(expr.items)
        this.#put(']')
        return
      case 'object':
        this.#put('{')
        expr.fields.forEach(([field, value], i) => {
          if (i > 0) this.#put(',')
          this.#gap()
          this.#put(`"${field}": `)
          this.expr(value)
        })
        this.#put('}')
    }
  }

  #use(use: Use): void {
    use.line = this.#line
    this.#put(`(use ${use.module}${use.names === null ? '' : ` [${use.names.join(' ')}]`})`)
  }

  #def(def: Def | FaceDef): void {
    def.line = this.#line
    this.#put(`(${def.d} `)
    def.nameLine = this.#line
    this.#put(def.name)
    switch (def.d) {
      case 'defschema':
        for (const [field, type] of def.fields) this.#put(` ${field}${type === null ? '' : `:${printType(type)}`}`)
        break
      case 'deftable':
        this.#put(`:{${def.schema}}`)
        break
      case 'defconst':
        if (def.type !== null) this.#put(`:${printType(def.type)}`)
        this.#gap()
        this.expr(def.value)
        break
      default:
        if (def.result !== null) this.#put(`:${printType(def.result)}`)
        this.#put(' ')
        this.#params(def.params)
        if ('meta' in def) this.#meta(def.meta)
        if ('steps' in def) this.#steps(def)
        else if ('body' in def) this.#exprs(def.body)
    }
    this.#put(')')
  }

  #steps({ steps }: Extract<Def, { readonly d: 'defpact' }>): void {
    for (const { run, rollback } of steps) {
      this.newline()
      this.#put(rollback === null ? '(step ' : '(step-with-rollback ')
      this.expr(run)
      if (rollback !== null) this.#exprs([rollback])
      this.#put(')')
    }
  }

  #meta(meta: Meta): void {
    if (meta === null) return
    this.#put(meta.meta === 'managed-by' ? ` @managed ${meta.param} ${meta.manager}` : ` @${meta.meta}`)
  }

  #members(members: readonly (() => void)[]): void {
    for (const member of members) {
      this.newline()
      this.#put('  ')
      member()
    }
    this.#put(')')
  }

  #params(params: readonly Param[]): void {
    this.#put('(')
    params.forEach((param, i) => {
      if (i > 0) this.#put(' ')
      this.#param(param)
    })
    this.#put(')')
  }

  #param(param: Param): void {
    param.line = this.#line
    this.#put(`${param.name}${param.type === null ? '' : `:${printType(param.type)}`}`)
  }

  #exprs(exprs: readonly Expr[]): void {
    for (const expr of exprs) {
      this.#gap()
      this.expr(expr)
    }
  }

  #gap(): void {
    if (this.#column > WIDTH) {
      this.newline()
      this.#put('    ')
    } else this.#put(' ')
  }

  #put(text: string): void {
    this.text += text
    this.#column += text.length
  }
}
