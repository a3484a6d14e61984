import { isObject } from '../../../json/json.ts';
import { findNearest } from '../../../text/suggest.ts';
import type { Path, YamlDocument } from '../../../yaml/document.ts';
import type { Finding } from '../../../yaml/finding.ts';
import { entriesAt, valueAt } from '../../../yaml/read.ts';

/**
 * Values of the wrong type and unknown keys in
 * PicoClaw’s config.json. An unknown key that
 * resembles a known one is an error, so that no
 * misspelt guard is lost; any other is a warning. Source: the types of pkg/config, which are strict too.
 */
export function findShapeFaults(document: YamlDocument): Finding[] {
  return checkedMappings(document).flatMap(({ path, kinds, isOpen = false }) => {
    const value = valueAt(document, path) ?? {};
    if (!isObject(value)) return [errorAt(path, 'must be a mapping')];
    return entriesAt(document, path).flatMap((entry) => {
      const kind = Object.hasOwn(kinds, entry.name) ? kinds[entry.name] : undefined;
      if (kind === undefined) return unknownKey(entry, Object.keys(kinds), isOpen);
      const isFit = entry.value === null || tests[kind](entry.value);
      return isFit
        ? []
        : [errorAt(entry.path, `must be ${kindWords[kind]} (got: ${JSON.stringify(entry.value)})`)];
    });
  });
}

type Kind = 'flag' | 'whole' | 'text' | 'any';

interface Mapping {
  readonly path: Path;
  /** The kinds of its members; `any` for those that are checked elsewhere. */
  readonly kinds: Readonly<Record<string, Kind>>;
  /** Whether unknown members are allowed. */
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
function checkedMappings(document: YamlDocument): Mapping[] {
  const top: Mapping[] = [
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

const kindWords = { flag: 'true or false', whole: 'a whole number', text: 'a string', any: '' } as const;

function unknownKey(
  { name, path }: { readonly name: string; readonly path: Path },
  known: readonly string[],
  isOpen: boolean,
): Finding[] {
  const meant = findNearest(name, known);
  if (meant !== undefined)
    return [{ ...errorAt(path, 'is not known'), hint: `did you mean \`${meant}\`?`, atKey: true }];
  if (isOpen) return [];
  return [{ severity: 'warning', path, message: 'is not known and ignored', atKey: true }];
}

function errorAt(path: Path, message: string): Finding {
  return { severity: 'error', path, message };
}
