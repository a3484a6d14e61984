import { isObject } from '../../json/json.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Finding } from '../../yaml/finding.ts';
import { entriesAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../yaml/read.ts';
import { suggest } from '../../yaml/suggest.ts';
import type { ProviderConfig } from '../config.ts';

/** The providers with their whole chains: who is asked after a provider, and after those that follow it. */
export function withChains(providers: readonly ProviderConfig[]): ProviderConfig[] {
  const own = new Map(providers.map(({ id, fallback = [] }) => [id, fallback]));
  return providers.map((provider) => {
    if (provider.fallback === undefined) return provider;
    const chain = new Set<string>();
    const follow = (id: string): void => {
      for (const next of own.get(id) ?? []) {
        if (next === provider.id || chain.has(next)) continue;
        chain.add(next);
        follow(next);
      }
    };
    follow(provider.id);
    return { ...provider, fallback: [...chain] };
  });
}

interface Declared {
  readonly path: Path;
  readonly id: string;
  readonly role: string;
  readonly fallback: readonly { readonly path: Path; readonly name: string }[];
}

/** Fallbacks that nobody declares, that lead back, or that the gateway would not keep. */
export function checkFallbacks(document: YamlDocument): Finding[] {
  const declared = itemsAt(document, ['spec', 'providers']).map((path) => readDeclared(document, path));
  return [
    ...declared.flatMap((provider) =>
      provider.fallback.flatMap((next): Finding[] => findFault(provider, next, declared)),
    ),
    ...declared.flatMap(({ id, fallback, path }) =>
      fallback.length > 0 && isOffered(document, id) ? [offeredFinding([...path, 'fallback'])] : [],
    ),
  ];
}

function readDeclared(document: YamlDocument, path: Path): Declared {
  const id = nonEmptyTextAt(document, [...path, 'id']) ?? nonEmptyTextAt(document, [...path, 'type']) ?? '';
  const fallback = itemsAt(document, [...path, 'fallback']).flatMap((item) => {
    const name = textAt(document, item);
    return name === undefined ? [] : [{ path: item, name }];
  });
  const role = nonEmptyTextAt(document, [...path, 'role']) ?? 'llm';
  return { path, id, role, fallback };
}

function findFault(
  { id, role }: Declared,
  { path, name }: Declared['fallback'][number],
  all: readonly Declared[],
): Finding[] {
  const known = all.map((each) => each.id);
  if (!known.includes(name)) {
    const message = `references a provider not declared under spec.providers (got: ${name})`;
    return [{ severity: 'error', path, message, ...suggest(name, known) }];
  }
  const other = all.find((each) => each.id === name)?.role;
  if (other !== role) {
    const message = `the role of ${name} is ${other}, and that of ${id} is ${role}`;
    const hint = 'A model that embeds cannot answer, nor the other way round.';
    return [{ severity: 'error', path, message, hint }];
  }
  const way = findWay(name, id, all);
  if (way === undefined) return [];
  const message = `leads back to the provider itself: ${[id, ...way].join(' → ')}`;
  return [
    {
      severity: 'error',
      path,
      message,
      hint: 'Each provider is asked once; end the chain before it comes back.',
    },
  ];
}

/** The names from `from` to `to` along fallbacks; undefined where no way leads there. */
function findWay(
  from: string,
  to: string,
  all: readonly Declared[],
  seen = new Set<string>(),
): string[] | undefined {
  if (from === to) return [to];
  if (seen.has(from)) return undefined;
  seen.add(from);
  for (const { name } of all.find(({ id }) => id === from)?.fallback ?? []) {
    const way = findWay(name, to, all, seen);
    if (way !== undefined) return [from, ...way];
  }
  return undefined;
}

/** Without a list of its own the gateway offers every provider. */
function isOffered(document: YamlDocument, id: string): boolean {
  if (!isObject(valueAt(document, ['spec', 'gateway']))) return false;
  const models = entriesAt(document, ['spec', 'gateway', 'models']);
  const names = models.map(({ path }) => nonEmptyTextAt(document, [...path, 'provider']));
  return names.length === 0 || names.includes(id);
}

function offeredFinding(path: Path): Finding {
  const message = 'is not kept by the gateway, which relays a call to one provider as it is';
  const hint =
    'List in spec.gateway.models providers without a fallback; another entry may call the same API.';
  return { severity: 'error', path, message, hint, atKey: true };
}
