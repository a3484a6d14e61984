import { evaluatedArguments } from '../../base/files/evaluated.ts';
import { takesInlineCode } from '../../base/files/script.ts';
import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { isAt, itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { typesAt } from '../../base/yaml/schema-path.ts';
import { foreignAt } from '../exec.ts';
import { runtimeSchema } from '../schema.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

interface FilledValue {
  readonly path: Path;
  readonly names: readonly string[];
  /** The filled text, before conversion to a number or boolean. */
  readonly text: string;
}

export interface FilledDocument {
  readonly document: YamlDocument;
  readonly findings: readonly Finding[];
  readonly filled: readonly FilledValue[];
  /** Values that must not be shown, by variable name. */
  readonly secrets: ReadonlyMap<string, string>;
}

/**
 * Fills `${env:NAME}` and `${env:NAME:-default}` into a RuntimeConfig document. Values are literal text: references,
 * expressions and placeholders in them have no effect. A whole text becomes a number or boolean if the schema requires
 * one. Each variable is a secret, unless `spec.public_env` names it.
 */
export function fillDocument(document: YamlDocument, variables: Variables): FilledDocument {
  const fill = new Fill(document, variables);
  const value = fill.tree(document.value, [], 'filled');
  const texts = new Map(fill.filled.map(({ path, text }) => [keyOf(path), text]));
  const sourceOf = (path: Path) => texts.get(keyOf(path)) ?? document.sourceOf(path);
  const isUnchanged = fill.filled.length === 0;
  return {
    document: isUnchanged ? document : { ...document, value, sourceOf },
    findings: [...fill.findings, ...findUnusedPublic(document, fill.names)],
    filled: fill.filled,
    secrets: fill.secrets,
  };
}

class Fill {
  readonly findings: Finding[] = [];
  readonly filled: FilledValue[] = [];
  readonly secrets = new Map<string, string>();
  readonly names = new Set<string>();
  readonly #document: YamlDocument;
  readonly #variables: Variables;
  readonly #public: ReadonlySet<string>;

  constructor(document: YamlDocument, variables: Variables) {
    this.#document = document;
    this.#variables = variables;
    this.#public = new Set(publicNames(document).map(({ name }) => name));
  }

  tree(value: unknown, path: Path, above: 'filled' | 'refused'): unknown {
    if (typeof value === 'string') return value.includes('${env:') ? this.#text(value, path, above) : value;
    if (!Array.isArray(value) && !isObject(value)) return value;
    const entries = Object.entries(value).map(([key, member]) => {
      if (!namesVariable(member)) return [key, member] as const;
      const inner = [...path, Array.isArray(value) ? Number(key) : key];
      const treatment =
        above === 'refused' ? above : treatmentAt(this.#document, inner, (text) => this.#quietly(text));
      return [key, treatment === 'left' ? member : this.tree(member, inner, treatment)] as const;
    });
    if (entries.every(([key, member]) => member === Reflect.get(value, key))) return value;
    return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
  }

  #text(text: string, path: Path, treatment: 'filled' | 'refused'): unknown {
    const parts = splitText(text);
    if (treatment === 'refused') {
      if (parts.every((part) => typeof part === 'string')) return text;
      const message = 'variables are not replaced here: the value would be read as part of the text';
      this.findings.push({ path, message, hint: 'Write the value itself.' });
      return text;
    }
    const before = this.findings.length;
    const names: string[] = [];
    const filled = parts.map((part) => {
      if (typeof part === 'string') return part;
      if ('broken' in part) return this.#refuse(path, part.broken);
      names.push(part.name);
      return this.#valueOf(part, path);
    });
    // Keep the reference after an error, so that no other text passes as the value.
    if (this.findings.length > before) return text;
    const result = filled.join('');
    this.filled.push({ path, names, text: result });
    return parts.length === 1 && names.length === 1 ? coerce(result, path) : result;
  }

  #quietly(text: string): string {
    return splitText(text)
      .map((part) => {
        if (typeof part === 'string') return part;
        return 'broken' in part ? part.broken : (this.#read(part) ?? '');
      })
      .join('');
  }

  /** As in a shell, the default also replaces an empty value. */
  #read({ name, fallback }: Reference): string | undefined {
    const value = Object.hasOwn(this.#variables, name) ? this.#variables[name] : undefined;
    return value === '' ? (fallback ?? '') : (value ?? fallback);
  }

  #refuse(path: Path, broken: string): string {
    const message = `\`${broken}\` does not name a variable`;
    const hint =
      'Write `${env:NAME}` or `${env:NAME:-default}`; write `$${env:` for the characters themselves.';
    this.findings.push({ path, message, hint });
    return broken;
  }

  #valueOf(reference: Reference, path: Path): string {
    const { name, fallback } = reference;
    this.names.add(name);
    const value = this.#read(reference);
    if (value !== undefined) {
      if (value !== fallback && !this.#public.has(name)) this.secrets.set(name, value);
      return value;
    }
    const { hint: near } = suggest(name, Object.keys(this.#variables));
    const next = `Set it, name a file that does in \`spec.env_file\`, or write a default: \`\${env:${name}:-…}\`.`;
    const hint = near === undefined ? next : `${next} Or ${near}`;
    this.findings.push({ path, message: `the environment variable ${name} is not set`, hint });
    return '';
  }
}

function namesVariable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${env:');
  return typeof value === 'object' && value !== null && Object.values(value).some(namesVariable);
}

function coerce(text: string, path: Path): unknown {
  const types = typesAt(path, runtimeSchema);
  if (types.size === 0 || types.has('string')) return text;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumber = types.has('number') || types.has('integer');
  return isNumber && /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

function publicNames(document: YamlDocument): { readonly name: string; readonly path: Path }[] {
  return itemsAt(document, ['spec', 'public_env']).map((path) => ({
    name: textAt(document, path) ?? '',
    path,
  }));
}

function findUnusedPublic(document: YamlDocument, used: ReadonlySet<string>): Finding[] {
  return publicNames(document)
    .filter(({ name }) => !used.has(name))
    .map(({ name, path }) => {
      const message = `the file has no \`\${env:${name}}\``;
      return { severity: 'warning', path, message, ...suggest(name, [...used]) };
    });
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}

type Treatment = 'filled' | 'left' | 'refused';

/**
 * Expressions and texts with later placeholders refuse references, since a value would become part of the code. Foreign
 * code and schemas stay as they are. `fill` reports no missing variables.
 */
function treatmentAt(document: YamlDocument, path: Path, fill: (text: string) => string): Treatment {
  if (isAt(path, ...refused)) return 'refused';
  if (isAt(path, ...left)) return 'left';
  if (path[0] === 'spec' && path[1] === 'hooks' && path.length === 4) {
    const isForeign = foreignAt(document, path.slice(0, 3)) !== undefined;
    if (isForeign && !foreignFilled.has(String(path[3]))) return 'left';
  }
  if (path.at(-1) === 'args') return isInlineCode(document, path, fill) ? 'left' : 'filled';
  const index = path.at(-1);
  if (path.at(-2) !== 'args' || typeof index !== 'number') return 'filled';
  return findEvaluated(document, path.slice(0, -1), fill).has(index) ? 'refused' : 'filled';
}

/** Keys of foreign hooks that the dialect's own settings do not interpret. */
const foreignFilled: ReadonlySet<string> = new Set(['env', 'cwd', 'dialect', 'sandbox']);

const left: readonly string[] = [
  ...['input_schema', 'output_schema', 'mock_template'].map((key) => `spec.tools.*.${key}`),
  'spec.evals.*.script',
  '$schema',
];

const refused: readonly string[] = [
  ...[
    'apiVersion',
    'kind',
    'spec.env_file',
    'spec.public_env',
    'spec.tools.*.approval',
    'spec.approvals',
    'spec.hooks.*.match.when',
  ],
  ...['command', 'args', 'prefix', 'kill'].map((key) => `spec.sandboxes.*.${key}`),
];

function isInlineCode(document: YamlDocument, path: Path, fill: (text: string) => string): boolean {
  return takesInlineCode(...commandLineAt(document, path, fill));
}

/** Indices of arguments that run as code, wherever they are in the command line. They refuse references. */
function findEvaluated(
  document: YamlDocument,
  path: Path,
  fill: (text: string) => string,
): ReadonlySet<number> {
  return evaluatedArguments(...commandLineAt(document, path, fill));
}

function commandLineAt(
  document: YamlDocument,
  path: Path,
  fill: (text: string) => string,
): [command: string, args: string[]] {
  const args = valueAt(document, path);
  const command = valueAt(document, [...path.slice(0, -1), 'command']);
  const words = Array.isArray(args) ? args.map((argument) => fill(String(argument))) : [];
  return [fill(String(command ?? '')), words];
}

interface Reference {
  readonly name: string;
  /** Replaces an unset or empty variable; never filled in itself. */
  readonly fallback: string | undefined;
}

type TextPart = string | Reference | { readonly broken: string };

/** `$${env:…}` is a literal `${env:…}`. */
function splitText(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: match, 1: dollar, 2: inner = '', 3: close, index } of text.matchAll(referencePattern)) {
    parts.push(text.slice(end, index));
    end = index + match.length;
    if (dollar === '$') parts.push(match.slice(1));
    else parts.push(close === '}' ? parseInner(inner, match) : { broken: match });
  }
  parts.push(text.slice(end));
  return parts.filter((part) => part !== '');
}

export function withoutReferences(text: string): string {
  return text.replaceAll(referencePattern, '');
}

const referencePattern = /(\$?)\$\{env:([^}]*)(\}?)/g;

function parseInner(inner: string, match: string): TextPart {
  const { 1: name, 2: fallback } = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner) ?? [];
  return name === undefined ? { broken: match } : { name, fallback };
}
