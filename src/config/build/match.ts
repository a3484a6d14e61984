import { type ExpressionError, findExpressionErrors } from '../../base/expression/expression.ts';
import { isObject } from '../../base/json/json.ts';
import { matchesGlob } from '../../base/text/glob.ts';
import { findNearest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { readFields } from '../../base/yaml/fields.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { entriesAt, itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import { type HookConfig, type HookMatch, matchSchema } from '../hook.ts';
import { foreignAt } from './foreign-entries.ts';

/** Which events the hook at `path` hears of; undefined: all of its phases. */
export function readMatch(document: YamlDocument, path: Path): HookMatch | undefined {
  const match = [...path, 'match'];
  return isObject(valueAt(document, match)) ? readFields(document, match, matchSchema.properties) : undefined;
}

/** Whose tools and providers the hook at `path` is asked about. */
export function readReach(document: YamlDocument, path: Path): HookConfig['reach'] {
  const reaches = matchedKeys.map((key) => {
    const patterns = readMatch(document, path)?.[key];
    const known = surroundingsOf(document)[key];
    const isReached = patterns?.some((pattern) => known.some((name) => matchesGlob(pattern, name))) ?? true;
    if (isReached) return undefined;
    return isOpen(document, path, key) ? 'external' : 'none';
  });
  return reaches.find((reach) => reach === 'none') ?? reaches.find((reach) => reach === 'external');
}

const matchedKeys = ['tools', 'providers'] as const;
type MatchedKey = (typeof matchedKeys)[number];

/** What a config declares, and whether others bring tools that it does not declare. */
type Surroundings = Readonly<Record<MatchedKey, readonly string[]>> & { readonly bringsTools: boolean };

/** Every hook of a config has the same ones. */
const surroundings = new WeakMap<YamlDocument, Surroundings>();

function surroundingsOf(document: YamlDocument): Surroundings {
  const known = surroundings.get(document) ?? {
    tools: entriesAt(document, ['spec', 'tools']).flatMap(({ name, path }) => [
      name,
      ...itemsAt(document, [...path, 'aliases']).flatMap((item) => textAt(document, item) ?? []),
    ]),
    providers: itemsAt(document, ['spec', 'providers']).flatMap(
      (path) => textAt(document, [...path, 'id']) ?? [],
    ),
    bringsTools:
      valueAt(document, ['spec', 'gateway', 'tools', 'hooks']) === true ||
      sourcesOfTools.some((section) => valueAt(document, ['spec', section]) !== undefined) ||
      entriesAt(document, ['spec', 'hooks']).some(({ path }) => {
        const dialect = foreignAt(document, path);
        return dialect !== undefined && foreignDialects[dialect].plugins !== undefined;
      }),
  };
  surroundings.set(document, known);
  return known;
}

/** Sections whose agents and plugins bring tools of their own; a gateway does where tool hooks hold for those of its clients. */
const sourcesOfTools = ['approvals', 'agents', 'imports'];

/** Whether others may bring tools or providers that the config does not declare. */
function isOpen(document: YamlDocument, hook: Path, key: MatchedKey): boolean {
  if (valueAt(document, [...hook, 'external']) === true || key === 'providers') return true;
  const { tools, bringsTools } = surroundingsOf(document);
  return tools.length === 0 || bringsTools;
}

/** What is wrong with the `match` of hooks: names that another kind has, expressions, and names that nothing has. */
export function checkMatches(document: YamlDocument): Finding[] {
  return entriesAt(document, ['spec', 'hooks']).flatMap(({ path }) => {
    const match = [...path, 'match'];
    const when = [...match, 'when'];
    return [
      ...findForeignKeys(document, path),
      ...findExpressionErrors(valueAt(document, when), ['event'], 'bool').map((error) =>
        badExpression(when, error),
      ),
      ...matchedKeys.flatMap((key) => findUndeclared(document, path, key)),
    ];
  });
}

const kindOf = { tools: 'tool', providers: 'provider', models: 'provider' } as const;

function findForeignKeys(document: YamlDocument, path: Path): Finding[] {
  const hook = textAt(document, [...path, 'hook']);
  if (hook === undefined) return [];
  return Object.entries(kindOf)
    .filter(([key, kind]) => valueAt(document, [...path, 'match', key]) !== undefined && kind !== hook)
    .map(([key, kind]) => ({
      path: [...path, 'match', key],
      atKey: true,
      message: `only events of ${kind} hooks have ${key} (hook: ${hook})`,
      hint: 'Use `when`, an expression over the `event`.',
    }));
}

function badExpression(path: Path, { message, hint }: ExpressionError): Finding {
  const isUnknown = message.includes('Unknown variable');
  return { path, message, hint: isUnknown ? 'The expression sees the event as `event`.' : hint };
}

/** A hook that waits for a name that nothing has guards nothing. */
function findUndeclared(document: YamlDocument, path: Path, key: MatchedKey): Finding[] {
  if (valueAt(document, [...path, 'external']) === true) return [];
  if (textAt(document, [...path, 'hook']) !== kindOf[key]) return [];
  const known = surroundingsOf(document)[key];
  const isExternal = isOpen(document, path, key);
  const thing = kindOf[key];
  return itemsAt(document, [...path, 'match', key]).flatMap((item): Finding[] => {
    const name = textAt(document, item) ?? '';
    if (known.some((each) => matchesGlob(name, each))) return [];
    const isPattern = /[*?]/.test(name);
    // Patterns are written for what others bring, and for what is declared later.
    if (isPattern && isExternal) return [];
    const nearest = findNearest(name, known);
    const suggestion = nearest === undefined ? '' : `Did you mean \`${nearest}\`? `;
    return [
      {
        severity: isExternal || isPattern ? 'warning' : 'error',
        path: item,
        basis: ['spec', key],
        message: `no ${thing} is declared ${isPattern ? 'that fits' : 'as'} "${name}", so the hook is not asked about it`,
        hint: `${suggestion}Set \`external: true\` on the hook if a client or an agent brings the ${thing}.`,
      },
    ];
  });
}
