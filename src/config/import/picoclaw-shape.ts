import { isObject } from '../../json/json.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { entriesAt, valueAt } from '../../yaml/read.ts';
import { findNearest } from '../../yaml/suggest.ts';
import type { Report } from '../report.ts';

/**
 * Values of the wrong type and keys that PicoClaw does not have: a guard whose entry is misspelt must not vanish. A key
 * that is nearly a known one is an error, any other a warning. Source: the types of pkg/config, which are strict too.
 */
export function findShapeFaults(document: YamlDocument): Report[] {
  return mappings(document).flatMap(({ path, kinds, isOpen = false }) => {
    const value = valueAt(document, path) ?? {};
    if (!isObject(value)) return [error(path, 'must be a mapping')];
    return entriesAt(document, path).flatMap((entry) => {
      const kind = Object.hasOwn(kinds, entry.name) ? kinds[entry.name] : undefined;
      if (kind === undefined) return unknownKey(entry, Object.keys(kinds), isOpen);
      const isFit = entry.value === null || tests[kind](entry.value);
      return isFit
        ? []
        : [error(entry.path, `must be ${articles[kind]} (got: ${JSON.stringify(entry.value)})`)];
    });
  });
}

type Kind = 'flag' | 'whole' | 'text' | 'any';

interface Mapping {
  readonly path: Path;
  /** Of its members; what has a reader of its own is any. */
  readonly kinds: Readonly<Record<string, Kind>>;
  /** Whether it has members that are none of ours. */
  readonly isOpen?: boolean;
}

type Kinds = Mapping['kinds'];

const processKinds: Kinds = {
  enabled: 'flag',
  priority: 'whole',
  transport: 'text',
  command: 'any',
  dir: 'text',
  env: 'any',
  observe: 'any',
  intercept: 'any',
};

const defaultKinds: Kinds = {
  interceptor_timeout_ms: 'whole',
  approval_timeout_ms: 'whole',
  observer_timeout_ms: 'whole',
};

const hookKinds: Kinds = { enabled: 'flag', defaults: 'any', builtins: 'any', processes: 'any' };

/** All mappings whose members are known, from the outermost on. */
function mappings(document: YamlDocument): Mapping[] {
  const top: Mapping[] = [
    { path: [], kinds: { hooks: 'any', isolation: 'any' }, isOpen: true },
    { path: ['isolation'], kinds: { enabled: 'flag' }, isOpen: true },
    { path: ['hooks'], kinds: hookKinds },
  ];
  // Nothing of a file runs that switches its hooks off.
  if (valueAt(document, ['hooks', 'enabled']) === false) return top;
  const named = (key: string, kinds: Kinds, isOpen: boolean): Mapping[] =>
    entriesAt(document, ['hooks', key]).map(({ path }) => ({ path, kinds, isOpen }));
  const inHooks = (key: string): Mapping => ({ path: ['hooks', key], kinds: {}, isOpen: true });
  return [
    ...top,
    { path: ['hooks', 'defaults'], kinds: defaultKinds },
    inHooks('builtins'),
    ...named('builtins', { enabled: 'flag' }, true),
    inHooks('processes'),
    ...named('processes', processKinds, false),
  ];
}

const tests: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  flag: (value) => typeof value === 'boolean',
  whole: (value) => Number.isInteger(value),
  text: (value) => typeof value === 'string',
  any: () => true,
};

const articles = { flag: 'true or false', whole: 'a whole number', text: 'a string', any: '' } as const;

function unknownKey(
  { name, path }: { readonly name: string; readonly path: Path },
  known: readonly string[],
  isOpen: boolean,
): Report[] {
  const meant = findNearest(name, known);
  if (meant !== undefined)
    return [{ ...error(path, 'is not known'), hint: `did you mean \`${meant}\`?`, atKey: true }];
  if (isOpen) return [];
  return [{ severity: 'warning', path, message: 'is not known and ignored', atKey: true }];
}

function error(path: Path, message: string): Report {
  return { severity: 'error', path, message };
}
