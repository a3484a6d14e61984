import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import type { ProviderConfig } from '../config.ts';
import { type DeclaredProvider, readDeclared } from './declared-provider.ts';
import { checkOffered } from './offered-fallback.ts';

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

/**
 * Fallbacks that nobody declares, that lead back, or that a gateway could not ask. `whyRefused` says why the provider at a path
 * must not be used.
 */
export function checkFallbacks(
  document: YamlDocument,
  whyRefused: (path: Path) => string | undefined,
): Finding[] {
  const declared = readDeclared(document);
  return [
    ...declared.flatMap((provider) =>
      provider.fallback.flatMap((next): Finding[] => findFault(provider, next, declared)),
    ),
    ...checkOffered(document, declared, whyRefused),
  ];
}

function findFault(
  { id, role }: DeclaredProvider,
  { path, name }: DeclaredProvider['fallback'][number],
  all: readonly DeclaredProvider[],
): Finding[] {
  const known = all.map((each) => each.id);
  if (!known.includes(name)) {
    const message = `references a provider not declared under spec.providers (got: ${name})`;
    return [{ severity: 'error', path, message, ...suggest(name, known, 'providers') }];
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
  all: readonly DeclaredProvider[],
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
