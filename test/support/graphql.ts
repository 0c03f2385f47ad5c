/** The part of GraphQL that Drape uses: one operation with variables, arguments and inline fragments. */
export interface Schema {
  readonly query: Readonly<Record<string, RootField>>
  readonly mutation: Readonly<Record<string, RootField>>
  /** The type of each field of each type; names without fields of their own are scalars. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The fields of each input type. */
  readonly inputs: Readonly<Record<string, readonly string[]>>
}

export interface RootField {
  readonly type: string
  readonly arguments: Readonly<Record<string, string>>
  /** Throws a `GraphqlError`. */
  readonly resolve: (given: Record<string, unknown>) => unknown
}

export interface GraphqlError {
  readonly message: string
  readonly code: string
}

interface Selection {
  readonly name: string
  readonly arguments: Readonly<Record<string, Argument>>
  readonly selections: readonly Selection[]
  /** The type that an inline fragment is on. */
  readonly on: string | null
}

type Argument =
  | { readonly variable: string }
  | { readonly literal: unknown }
  | { readonly fields: Record<string, Argument> }

interface Operation {
  readonly kind: 'query' | 'mutation'
  readonly name: string
  readonly variables: Readonly<Record<string, string>>
  readonly selections: readonly Selection[]
}

/** Executes the document, or returns its errors. Calls `before` with the name of each valid operation. */
export function executeGraphql(
  schema: Schema,
  document: string,
  variables: Readonly<Record<string, unknown>>,
  before: (operation: string) => void,
): object {
  try {
    const operation = parseOperation(document)
    const values = readVariables(operation, variables, schema)
    const fields = operation.selections.map((selection) => {
      const field = schema[operation.kind][selection.name]
      if (!field) throw fault(`Field '${selection.name}' doesn't exist`, 'undefinedField')
      checkSelections(selection.selections, field.type, schema)
      return { selection, field, given: readArguments(selection, field, { operation, values, schema }) }
    })
    before(operation.name)
    return {
      data: Object.fromEntries(
        fields.map(({ selection, field, given }) => [
          selection.name,
          select(field.resolve(given), selection.selections),
        ]),
      ),
    }
  } catch (thrown) {
    const { message, code } = thrown as GraphqlError
    if (code === undefined) throw thrown
    return { data: null, errors: [{ message, extensions: { code } }] }
  }
}

function fault(message: string, code: string): GraphqlError {
  return { message, code }
}

function checkSelections(selections: readonly Selection[], type: string, schema: Schema): void {
  const fields = schema.types[type]
  if (!fields && selections.length > 0)
    throw fault(`Selections can't be made on scalars (${type})`, 'selectionMismatch')
  if (fields && selections.length === 0) throw fault(`Field must have selections (${type})`, 'selectionMismatch')
  for (const { name, on, selections: inner } of selections) {
    if (on !== null) checkSelections(inner, on, schema)
    else if (!fields?.[name]) throw fault(`Field '${name}' doesn't exist on type '${type}'`, 'undefinedField')
    else checkSelections(inner, fields[name], schema)
  }
}

function readVariables({ variables }: Operation, given: Readonly<Record<string, unknown>>, schema: Schema) {
  for (const [name, type] of Object.entries(variables)) {
    if (type.endsWith('!') && given[name] == null) throw fault(`Variable $${name} is missing`, 'INVALID_VARIABLE')
    checkInput(given[name], type, schema)
  }
  for (const name of Object.keys(given)) {
    if (!(name in variables)) throw fault(`Variable $${name} is not declared`, 'variableNotDefined')
  }
  return given
}

function checkInput(value: unknown, type: string, schema: Schema): void {
  const bare = type.replaceAll(/[[\]!]/g, '')
  if (type.startsWith('[') && !Array.isArray(value)) throw fault(`Expected a list (${type})`, 'INVALID_VARIABLE')
  const fields = schema.inputs[bare]
  const unknown = fields && Object.keys(value as object).find((name) => !fields.includes(name))
  if (unknown) throw fault(`Field '${unknown}' is not defined on ${bare}`, 'INVALID_VARIABLE')
  if (bare === 'ID' && !/^gid:\/\/shopify\/\w+\/\d+$/.test(String(value))) {
    throw fault(`Invalid global id '${value}'`, 'INVALID_VARIABLE')
  }
}

function readArguments(
  selection: Selection,
  field: RootField,
  { operation, values, schema }: { operation: Operation; values: Readonly<Record<string, unknown>>; schema: Schema },
): Record<string, unknown> {
  const read = (argument: Argument): unknown => {
    if ('variable' in argument) return values[argument.variable]
    if ('literal' in argument) return argument.literal
    return Object.fromEntries(Object.entries(argument.fields).map(([name, inner]) => [name, read(inner)]))
  }
  for (const [name, argument] of Object.entries(selection.arguments)) {
    const type = field.arguments[name]
    if (!type) throw fault(`Field '${selection.name}' doesn't accept argument '${name}'`, 'argumentNotAccepted')
    const declared = 'variable' in argument ? operation.variables[argument.variable] : type
    if (declared !== type && declared !== `${type}!`) throw fault(`Type mismatch on '${name}'`, 'variableMismatch')
    checkInput(read(argument), type, schema)
  }
  return Object.fromEntries(Object.entries(selection.arguments).map(([name, argument]) => [name, read(argument)]))
}

function select(value: unknown, selections: readonly Selection[]): unknown {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map((entry) => select(entry, selections))
  if (selections.length === 0) return value
  const object = value as Record<string, unknown>
  return Object.fromEntries(
    selections.flatMap(({ name, on, selections: inner }) => {
      if (on === null) return [[name, select(object[name], inner)]]
      return on === object.__typename ? Object.entries(select(value, inner) as object) : []
    }),
  )
}

const TOKEN = /\s*(\.\.\.|[{}()[\]:!$@=]|"[^"]*"|-?\d+(?:\.\d+)?|\w+|,)/y

function parseOperation(document: string): Operation {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  for (let found = TOKEN.exec(document); found; found = TOKEN.exec(document))
    if (found[1] !== ',') tokens.push(found[1])
  if (tokens.join('') !== document.replaceAll(/[\s,]/g, '')) throw fault('Parse error', 'PARSE_ERROR')
  let at = 0
  const is = (token: string) => tokens[at] === token
  const take = (expected?: string): string => {
    if (at >= tokens.length || (expected !== undefined && !is(expected))) {
      throw fault(`Parse error on "${tokens[at]}", expected "${expected}"`, 'PARSE_ERROR')
    }
    return tokens[at++]
  }
  const type = (): string => {
    const inner = is('[') ? `${take('[')}${type()}${take(']')}` : take()
    return is('!') ? inner + take('!') : inner
  }
  const argument = (): Argument => {
    if (is('$')) return { variable: take('$') && take() }
    if (!is('{')) return { literal: JSON.parse(take()) }
    take('{')
    const fields: Record<string, Argument> = {}
    while (!is('}')) fields[named()] = argument()
    take('}')
    return { fields }
  }
  const named = (): string => {
    const name = take()
    take(':')
    return name
  }
  const set = (): Selection[] => {
    const selections: Selection[] = []
    take('{')
    while (!is('}')) selections.push(is('...') ? fragment() : field())
    take('}')
    return selections
  }
  const fragment = (): Selection => {
    take('...')
    take('on')
    return { name: '', arguments: {}, on: take(), selections: set() }
  }
  const field = (): Selection => {
    const name = take()
    const given: Record<string, Argument> = {}
    if (is('(')) {
      take('(')
      while (!is(')')) given[named()] = argument()
      take(')')
    }
    return { name, arguments: given, on: null, selections: is('{') ? set() : [] }
  }
  const kind = take()
  if (kind !== 'query' && kind !== 'mutation') throw fault('Parse error', 'PARSE_ERROR')
  const name = take()
  const variables: Record<string, string> = {}
  if (is('(')) {
    take('(')
    while (!is(')')) {
      take('$')
      variables[named()] = type()
    }
    take(')')
  }
  return { kind, name, variables, selections: set() }
}
