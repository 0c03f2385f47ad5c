import { parseAst } from 'vitest/node'
import type { Mutant } from './mutant.ts'
import { mutateSql } from './sql.ts'

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '&&': '||',
  '||': '&&',
}

export function findMutants(text: string): Mutant[] {
  const mutants: Mutant[] = []
  const visit = (node: Node) => {
    mutants.push(...mutateNode(node, text))
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child)
  }
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node)
  return mutants.sort((a, b) => a.start - b.start)
}

function mutateNode(node: Node, text: string): Mutant[] {
  const replace = ({ start, end }: Node, replacement: string): Mutant => ({ start, end, replacement })
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return mutateOperator(node, text)
    case 'IfStatement':
    case 'ConditionalExpression':
      return ['true', 'false'].map((value) => replace(node.test as Node, value))
    case 'ExpressionStatement':
      return [replace(node, ';')]
    case 'Literal':
      if (typeof node.value === 'boolean') return [replace(node, String(!node.value))]
      return typeof node.value === 'number' ? [replace(node, String(node.value + 1))] : []
    case 'TaggedTemplateExpression':
      return mutateSql(text, (node.quasi as Node).start, (node.quasi as Node).end)
    default:
      return []
  }
}

function mutateOperator(node: Node, text: string): Mutant[] {
  const operator = String(node.operator)
  const replacement = OPERATORS[operator]
  if (replacement === undefined) return []
  const start = text.indexOf(operator, (node.left as Node).end)
  return [{ start, end: start + operator.length, replacement }]
}

function isNode(value: unknown): value is Node {
  // Types have no effect at run time.
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    !/^TS.*(Type|Declaration)/.test(String(value.type))
  )
}
