import { type ExpressionError, findExpressionErrors } from '../../expression/expression.ts';
import { isObject } from '../../json/json.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Finding } from '../../yaml/finding.ts';
import { omitUndefined } from '../../yaml/present.ts';
import { entriesAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../yaml/read.ts';
import { findNearest } from '../../yaml/suggest.ts';
import type { HookMatch } from '../config.ts';

/** Which events the hook at `path` hears of; undefined: all of its phases. */
export function readMatch(document: YamlDocument, path: Path): HookMatch | undefined {
  const match = [...path, 'match'];
  if (!isObject(valueAt(document, match))) return undefined;
  return omitUndefined({
    tools: namesAt(document, [...match, 'tools']),
    providers: namesAt(document, [...match, 'providers']),
    models: namesAt(document, [...match, 'models']),
    when: nonEmptyTextAt(document, [...match, 'when']),
  });
}

function namesAt(document: YamlDocument, path: Path): string[] | undefined {
  if (!Array.isArray(valueAt(document, path))) return undefined;
  return itemsAt(document, path).map((item) => textAt(document, item) ?? '');
}

/** What is wrong with the `match` of hooks: names that another kind has, expressions, and names that are nearly declared ones. */
export function checkMatches(document: YamlDocument): Finding[] {
  const declared = {
    tools: entriesAt(document, ['spec', 'tools']).map(({ name }) => name),
    providers: itemsAt(document, ['spec', 'providers']).flatMap(
      (path) => textAt(document, [...path, 'id']) ?? [],
    ),
  };
  return entriesAt(document, ['spec', 'hooks']).flatMap(({ path }) => {
    const match = [...path, 'match'];
    const when = [...match, 'when'];
    return [
      ...findForeignKeys(document, path),
      ...findExpressionErrors(valueAt(document, when), ['event'], 'bool').map((error) =>
        badExpression(when, error),
      ),
      ...findSlips(document, [...match, 'tools'], declared.tools),
      ...findSlips(document, [...match, 'providers'], declared.providers),
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

/** Clients of a gateway may have tools of other names; one that is nearly a declared name is hardly meant as such. */
function findSlips(document: YamlDocument, path: Path, known: readonly string[]): Finding[] {
  return itemsAt(document, path).flatMap((item): Finding[] => {
    const name = textAt(document, item) ?? '';
    const nearest = /[*?]/.test(name) || known.includes(name) ? undefined : findNearest(name, known);
    if (nearest === undefined) return [];
    return [
      { severity: 'warning', path: item, message: 'is not declared', hint: `did you mean \`${nearest}\`?` },
    ];
  });
}
