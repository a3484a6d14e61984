import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { entriesAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { checkMockEmbeddings } from '../mock-embeddings.ts';
import { checkMock } from '../mock-responses.ts';
import { providerRoleAt, whyProviderRefused } from '../provider.ts';
import { gatewayApiOf, providerTypes } from '../provider-types.ts';

const providersPath = ['spec', 'providers'] as const;

type Severity = 'error' | 'warning';

/** Reports duplicate ids, mocks that cannot answer, unknown tools, and wrong fallbacks. */
export function checkProviders(document: YamlDocument, severity: Severity): Finding[] {
  return [
    ...checkIds(document, severity),
    ...checkMocks(document, severity),
    ...checkTools(document),
    ...checkFallbacks(document),
  ];
}

/** Reports unknown provider types. Such a provider is refused when it is used. */
export function checkProviderTypes(document: YamlDocument, severity: Severity): Finding[] {
  return itemsAt(document, providersPath).flatMap((item): Finding[] => {
    const path = [...item, 'type'];
    const type = valueAt(document, path);
    const isRefusedAnyway = whyProviderRefused(document, item) !== undefined;
    if (typeof type !== 'string' || type === '') return [];
    if (providerTypes.includes(type) || isRefusedAnyway) return [];
    const consequence = severity === 'error' ? '' : '; a call of the provider fails';
    const message = `there is no provider type ${type}${consequence}`;
    return [{ severity, path, message, ...suggest(type, providerTypes, 'types') }];
  });
}

function checkIds(document: YamlDocument, severity: Severity): Finding[] {
  const seen = new Set<string>();
  return itemsAt(document, providersPath).flatMap((item): Finding[] => {
    const id = nonEmptyTextAt(document, [...item, 'id']) ?? nonEmptyTextAt(document, [...item, 'type']);
    if (id === undefined || !seen.has(id)) {
      if (id !== undefined) seen.add(id);
      return [];
    }
    const isNamed = nonEmptyTextAt(document, [...item, 'id']) !== undefined;
    const consequence = severity === 'error' ? '' : '; the first one is used';
    const message = `another provider already has the id ${id}${consequence}`;
    const hint = isNamed
      ? 'Give each provider a unique id.'
      : 'A provider without `id` takes its type as id: give each a unique one.';
    return [{ severity, path: [...item, isNamed ? 'id' : 'type'], message, hint }];
  });
}

function checkMocks(document: YamlDocument, severity: Severity): Finding[] {
  const mocks = itemsAt(document, providersPath).filter((item) => {
    return textAt(document, [...item, 'type']) === 'mock';
  });
  const consequence = severity === 'error' ? '' : '; a call of the provider fails';
  return mocks.flatMap((item) => {
    const path = [...item, 'additional_config'];
    const script = valueAt(document, path) ?? {};
    const check = providerRoleAt(document, item) === 'embedding' ? checkMockEmbeddings : checkMock;
    const problems = isObject(script) ? check(script) : [];
    return problems.map((problem) => ({
      severity,
      path: [...path, ...problem.path],
      message: `${problem.message}${consequence}`,
      hint: problem.hint,
    }));
  });
}

function checkTools(document: YamlDocument): Finding[] {
  const known = entriesAt(document, ['spec', 'tools']).map(({ name }) => name);
  return itemsAt(document, providersPath).flatMap((item): Finding[] => {
    const path = [...item, 'model'];
    const tool = textAt(document, path);
    if (textAt(document, [...item, 'type']) !== 'tool' || tool === undefined || known.includes(tool))
      return [];
    const message = `references a tool not declared under spec.tools (got: ${tool})`;
    return [{ severity: 'error', path, message, ...suggest(tool, known) }];
  });
}

function checkFallbacks(document: YamlDocument): Finding[] {
  const declared = readDeclared(document);
  return [
    ...declared.flatMap((provider) =>
      provider.fallback.flatMap((next): Finding[] => findFault(provider, next, declared)),
    ),
    ...checkOffered(document, declared),
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
    const hint = 'An embedding model cannot answer, and a model that answers cannot embed.';
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
      hint: 'A call reaches each provider once: remove the entry that closes the circle.',
    },
  ];
}

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

/** Reports fallbacks that the gateway cannot call, since it forwards calls unchanged with its own credential. */
function checkOffered(document: YamlDocument, declared: readonly DeclaredProvider[]): Finding[] {
  const passesThrough = itemsAt(document, ['spec', 'gateway', 'pass_through']).length > 0;
  return declared.flatMap((provider): Finding[] => {
    const { id, type, path, fallback } = provider;
    if (fallback.length === 0 || gatewayApiOf(type) === undefined || !isOffered(document, id)) return [];
    if (passesThrough) return [credentialFinding([...path, 'fallback'])];
    return fallback.flatMap((next): Finding[] => {
      const stranger = reach(next.name, declared).find(
        (other) => other.id !== id && whyNot(document, type, other) !== undefined,
      );
      const why = stranger && whyNot(document, type, stranger);
      if (stranger === undefined || why === undefined) return [];
      const message = stranger.id === next.name ? why : `leads to ${stranger.id}, which ${why}`;
      return [{ severity: 'error', path: next.path, message, hint }];
    });
  });
}

const hint =
  'List only providers in spec.gateway.models whose fallbacks all use the same API. Another entry may call that API without a fallback.';

/** Without its own list, the gateway offers every provider. */
function isOffered(document: YamlDocument, id: string): boolean {
  if (!isObject(valueAt(document, ['spec', 'gateway']))) return false;
  const models = entriesAt(document, ['spec', 'gateway', 'models']);
  const names = models.map(({ path }) => nonEmptyTextAt(document, [...path, 'provider']));
  return names.length === 0 || names.includes(id);
}

function reach(
  name: string,
  declared: readonly DeclaredProvider[],
  seen = new Set<string>(),
): DeclaredProvider[] {
  const provider = declared.find(({ id }) => id === name);
  if (provider === undefined || seen.has(name)) return [];
  seen.add(name);
  return [provider, ...provider.fallback.flatMap((next) => reach(next.name, declared, seen))];
}

function whyNot(document: YamlDocument, type: string, other: DeclaredProvider): string | undefined {
  const refused = whyProviderRefused(document, other.path);
  if (refused !== undefined) return `cannot be used by the gateway: ${refused}`;
  const wanted = gatewayApiOf(type);
  const spoken = gatewayApiOf(other.type);
  if (spoken === 'any' || (wanted === 'any' && spoken !== undefined) || spoken === wanted) return undefined;
  const own = spoken === undefined ? 'no API that the gateway serves' : `the API of ${spoken}`;
  return `uses ${own}, but the gateway forwards calls of ${type} unchanged`;
}

function credentialFinding(path: Path): Finding {
  const message =
    'cannot be used by a gateway with pass_through: the credential of a client is meant for one upstream only';
  return {
    severity: 'error',
    path,
    message,
    hint: 'Remove spec.gateway.pass_through, or list in spec.gateway.models providers without a fallback.',
    atKey: true,
  };
}

interface DeclaredProvider {
  readonly path: Path;
  readonly id: string;
  readonly type: string;
  readonly role: string;
  readonly fallback: readonly { readonly path: Path; readonly name: string }[];
}

function readDeclared(document: YamlDocument): DeclaredProvider[] {
  return itemsAt(document, ['spec', 'providers']).map((path) => {
    const type = nonEmptyTextAt(document, [...path, 'type']) ?? '';
    const fallback = itemsAt(document, [...path, 'fallback']).flatMap((item) => {
      const name = textAt(document, item);
      return name === undefined ? [] : [{ path: item, name }];
    });
    const id = nonEmptyTextAt(document, [...path, 'id']) ?? type;
    const role = nonEmptyTextAt(document, [...path, 'role']) ?? 'llm';
    return { path, id, type, role, fallback };
  });
}
