import nunjucks from 'nunjucks';

/** What a template names. */
export interface Inspection {
  /** Variables, filters, blocks and whatever else has a name. */
  readonly names: ReadonlySet<string>;
  readonly takesFile: boolean;
}

/** Reads a template without running it. Throws what Nunjucks throws for one that is none. */
export function inspect(template: string): Inspection {
  const parser: unknown = Reflect.get(nunjucks, 'parser');
  const parse: unknown = Reflect.get(Object(parser), 'parse');
  if (typeof parse !== 'function') throw new TypeError('nunjucks has no parser');
  const names = new Set<string>();
  let takesFile = false;
  visit(Reflect.apply(parse, parser, [template, [], {}]), ({ typename, value }) => {
    if (fromFiles.includes(typename)) takesFile = true;
    if (typename === 'Symbol' && typeof value === 'string') names.add(value);
  });
  return { names, takesFile };
}

interface TreeNode {
  readonly typename: string;
  readonly fields: readonly string[];
  readonly value?: unknown;
}

const fromFiles = ['Include', 'Import', 'FromImport', 'Extends', 'TemplateRef'];

function visit(value: unknown, see: (node: TreeNode) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, see);
  if (!isNode(value)) return;
  see(value);
  for (const field of value.fields) visit(Reflect.get(value, field), see);
}

function isNode(value: unknown): value is TreeNode {
  return typeof value === 'object' && value !== null && 'typename' in value && 'fields' in value;
}

/** Why a template is not run with these variables, as the end of a sentence; undefined where nothing speaks against it. */
export function refusalOf({ names, takesFile }: Inspection, known: ReadonlySet<string>): string | undefined {
  if (takesFile) return 'takes in another file';
  if (names.has('env') && !known.has('env')) return 'names a variable of the environment';
  if (names.has('_conversation') && !known.has('_conversation'))
    return 'goes on with the conversation so far';
  const bad = [...names].find((name) => !namePattern.test(name) || name in Object.prototype);
  return bad === undefined ? undefined : `has a name that is none, ${JSON.stringify(bad.slice(0, 40))}`;
}

/** A name becomes part of the code that Nunjucks makes of a template; members of every object are nobody's variables. */
const namePattern = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
