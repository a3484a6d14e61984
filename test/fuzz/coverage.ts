import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { parseAst } from 'rolldown/parseAst';

export interface Coverage {
  /** Blocks that ran for the first time since the last call. */
  takeFresh(): number;
  blocks(): number;
  /** String literals of the code, as words for inputs. */
  readonly literals: ReadonlySet<string>;
}

/**
 * Instruments modules of src and parser packages that are loaded from now on. Each block records its first run: bodies
 * of functions and loops, branches, cases, and right sides of `&&`, `||` and `??`.
 */
export function watchCoverage(): Coverage {
  const seen = new Uint8Array(1 << 20);
  const counts = { given: 0, fresh: 0, blocks: 0 };
  const literals = new Set<string>();
  Reflect.set(globalThis, '__seen', seen);
  Reflect.set(globalThis, '__first', (block: number) => {
    seen[block] = 1;
    counts.fresh += 1;
    counts.blocks += 1;
    return 1;
  });
  const nextBlock = () => (counts.given += 1);
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      const { source, format } = loaded;
      if (!isWatched.test(url) || source === undefined || source === null) return loaded;
      const isTyped = format === 'module-typescript';
      const text = Buffer.isBuffer(source) || typeof source === 'string' ? source.toString() : '';
      const plain = isTyped ? stripTypeScriptTypes(text) : text;
      const words = url.includes('/src/') ? literals : new Set<string>();
      return { ...loaded, format: isTyped ? 'module' : format, source: instrument(plain, nextBlock, words) };
    },
  });
  return {
    takeFresh: () => {
      const { fresh } = counts;
      counts.fresh = 0;
      return fresh;
    },
    blocks: () => counts.blocks,
    literals,
  };
}

const isWatched = /\/src\/[^?]*\.ts$|\/node_modules\/(yaml|@marcbachmann\/cel-js|re2js|csv-parse)\/.*\.m?js$/;

function instrument(code: string, nextBlock: () => number, literals: Set<string>): string {
  const program: unknown = parseAst(code);
  const puts: Put[] = [];
  walk(program, { puts, nextBlock, literals });
  const start = behindDirectives(program);
  puts.push({ at: start, order: -1, text: ';var __s=globalThis.__seen,__f=globalThis.__first;' });
  const sorted = puts.toSorted((one, other) => one.at - other.at || one.order - other.order);
  const parts: string[] = [];
  let at = 0;
  for (const put of sorted) {
    parts.push(code.slice(at, put.at), put.text);
    at = put.at;
  }
  return parts.join('') + code.slice(at);
}

interface Put {
  readonly at: number;
  /** The order at one position: closing before opening, inner closing first, outer opening first. */
  readonly order: number;
  readonly text: string;
}

interface Walk {
  readonly puts: Put[];
  readonly nextBlock: () => number;
  readonly literals: Set<string>;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value;
}

function walk(value: unknown, walking: Walk): void {
  if (Array.isArray(value)) for (const each of value) walk(each, walking);
  if (!isNode(value)) return;
  const text: unknown = value.type === 'Literal' ? Reflect.get(value, 'value') : undefined;
  if (typeof text === 'string' && text.length > 1 && text.length <= 24) walking.literals.add(text);
  for (const name of blockNames[value.type] ?? []) note(Reflect.get(value, name), value.type, walking);
  for (const child of Object.values(value)) walk(child, walking);
}

const blockNames: Readonly<Record<string, readonly string[]>> = {
  FunctionDeclaration: ['body'],
  FunctionExpression: ['body'],
  ArrowFunctionExpression: ['body'],
  IfStatement: ['consequent', 'alternate'],
  ConditionalExpression: ['consequent', 'alternate'],
  LogicalExpression: ['right'],
  SwitchCase: ['consequent'],
  ForStatement: ['body'],
  ForOfStatement: ['body'],
  ForInStatement: ['body'],
  WhileStatement: ['body'],
  CatchClause: ['body'],
};

function note(block: unknown, parent: string, { puts, nextBlock }: Walk): void {
  const number = nextBlock();
  const hit = `__s[${number}]||__f(${number})`;
  const first: unknown = Array.isArray(block) ? block[0] : block;
  if (!isNode(first)) return;
  if (parent === 'SwitchCase') puts.push({ at: first.start, order: first.start, text: `${hit};` });
  else if (first.type === 'BlockStatement')
    puts.push({ at: behindDirectives(first), order: 0, text: `${hit};` });
  else if (/Statement$|Declaration$/.test(first.type)) wrap(first, [`{${hit};`, '}'], puts);
  else wrap(first, [`(${hit},`, ')'], puts);
}

function wrap({ start, end }: Node, [open, close]: readonly [string, string], puts: Put[]): void {
  // At one position, the longer of two nodes opens first and the shorter closes first.
  puts.push({ at: start, order: 1e9 - end, text: open }, { at: end, order: -start - 1, text: close });
}

/** The start of a block's statements. Directives must stay first. */
function behindDirectives(block: unknown): number {
  if (!isNode(block)) return 0;
  const body: unknown = Reflect.get(block, 'body');
  const directives = (Array.isArray(body) ? body : []).filter(
    (each) => isNode(each) && typeof Reflect.get(each, 'directive') === 'string',
  );
  const last: unknown = directives.at(-1);
  if (isNode(last)) return last.end;
  return block.type === 'Program' ? 0 : block.start + 1;
}
