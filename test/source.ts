import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';

/** A parsed TypeScript file. Only `text` includes comments. */
export interface Module {
  /** Relative to the folder that was read, with forward slashes. */
  readonly file: string;
  readonly text: string;
  /** Every specifier of import, export … from, import(), import('…').Type and require(), in order. */
  readonly imports: readonly string[];
  /** Which of `process.env` and `console` the code uses. */
  readonly globals: ReadonlySet<string>;
  /** Whether the code uses `process` at all. */
  readonly usesProcess: boolean;
  /** The text of every string and template literal, without `${…}` parts. */
  readonly strings: readonly string[];
}

export function readModules(folder: string): Module[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .map((file) => parseModule(file, readFileSync(join(folder, file), 'utf8')));
}

/** Throws on a syntax error. */
export function parseModule(file: string, text: string): Module {
  const imports: string[] = [];
  const globals = new Set<string>();
  const strings: string[] = [];
  let usesProcess = false;
  for (const node of nodesOf(parseAst(text, { lang: 'ts' }, file))) {
    const specifier = importOf(node);
    if (specifier !== undefined) imports.push(specifier);
    if (readsEnvironment(node)) globals.add('process.env');
    usesProcess ||= isProcess(node.object) || isProcess(node.init) || specifier === 'node:process';
    if (isNamed(node.object, 'console') || specifier === 'node:console') globals.add('console');
    const string = stringOf(node);
    if (string !== undefined) strings.push(string);
  }
  return { file, text, imports, globals, usesProcess, strings };
}

type Node = Readonly<Record<string, unknown>>;

function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) {
    for (const element of value) yield* nodesOf(element);
  } else if (isNode(value)) {
    if (typeof value.type === 'string') yield value;
    for (const member of Object.values(value)) yield* nodesOf(member);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function importOf(node: Node): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
    case 'TSExternalModuleReference':
      return literalOf(node.source ?? node.expression);
    case 'CallExpression':
      return isNamed(node.callee, 'require') && Array.isArray(node.arguments)
        ? literalOf(node.arguments[0])
        : undefined;
    default:
      return undefined;
  }
}

function literalOf(node: unknown): string | undefined {
  return isNode(node) && typeof node.value === 'string' ? node.value : undefined;
}

/** `process.env`, `globalThis.process.env`, `const { env } = process` and `import { env } from 'node:process'`. */
function readsEnvironment(node: Node): boolean {
  switch (node.type) {
    case 'MemberExpression':
      return isProcess(node.object) && nameOf(node.property) === 'env';
    case 'VariableDeclarator':
      return isProcess(node.init) && isNode(node.id) && hasKey(node.id.properties, 'key');
    case 'ImportDeclaration':
      return /^(node:)?process$/.test(String(literalOf(node.source))) && hasKey(node.specifiers, 'imported');
    default:
      return false;
  }
}

function isProcess(node: unknown): boolean {
  return isNamed(node, 'process') || (isNode(node) && isNamed(node.property, 'process'));
}

function hasKey(nodes: unknown, member: 'key' | 'imported'): boolean {
  return Array.isArray(nodes) && nodes.some((node) => isNode(node) && nameOf(node[member]) === 'env');
}

function isNamed(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && node.name === name;
}

function nameOf(node: unknown): unknown {
  return isNode(node) ? (node.name ?? node.value) : undefined;
}

function stringOf(node: Node): string | undefined {
  if (node.type === 'Literal') return literalOf(node);
  if (node.type !== 'TemplateElement' || !isNode(node.value)) return undefined;
  return typeof node.value.cooked === 'string' ? node.value.cooked : undefined;
}
