import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { entriesAt, itemsAt, nonEmptyTextAt, valueAt } from '../../base/yaml/read.ts';
import { gatewayApiOf } from '../provider-types.ts';
import type { DeclaredProvider } from './declared-provider.ts';

/** Fallbacks of what the gateway offers that it could not ask: it forwards calls as they are, with a credential of its own. */
export function checkOffered(
  document: YamlDocument,
  declared: readonly DeclaredProvider[],
  whyRefused: (path: Path) => string | undefined,
): Finding[] {
  const passesThrough = itemsAt(document, ['spec', 'gateway', 'pass_through']).length > 0;
  return declared.flatMap((provider): Finding[] => {
    const { id, type, path, fallback } = provider;
    if (fallback.length === 0 || gatewayApiOf(type) === undefined || !isOffered(document, id)) return [];
    if (passesThrough) return [credentialFinding([...path, 'fallback'])];
    return fallback.flatMap((next): Finding[] => {
      const stranger = reach(next.name, declared).find(
        (other) => other.id !== id && whyNot(type, other, whyRefused) !== undefined,
      );
      const why = stranger && whyNot(type, stranger, whyRefused);
      if (stranger === undefined || why === undefined) return [];
      const message = stranger.id === next.name ? why : `leads to ${stranger.id}, which ${why}`;
      return [{ severity: 'error', path: next.path, message, hint }];
    });
  });
}

const hint =
  'List in spec.gateway.models providers whose fallbacks all speak their API; another entry may call the same API without one.';

/** Without a list of its own the gateway offers every provider. */
function isOffered(document: YamlDocument, id: string): boolean {
  if (!isObject(valueAt(document, ['spec', 'gateway']))) return false;
  const models = entriesAt(document, ['spec', 'gateway', 'models']);
  const names = models.map(({ path }) => nonEmptyTextAt(document, [...path, 'provider']));
  return names.length === 0 || names.includes(id);
}

/** The provider of that name, and those that follow it. */
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

/** Why the gateway cannot ask it in the place of a provider of that type; undefined where it can. */
function whyNot(
  type: string,
  other: DeclaredProvider,
  whyRefused: (path: Path) => string | undefined,
): string | undefined {
  const refused = whyRefused(other.path);
  if (refused !== undefined) return `cannot be asked by the gateway: ${refused}`;
  const wanted = gatewayApiOf(type);
  const spoken = gatewayApiOf(other.type);
  if (spoken === 'any' || (wanted === 'any' && spoken !== undefined) || spoken === wanted) return undefined;
  const own = spoken === undefined ? 'no API that the gateway serves' : `the API of ${spoken}`;
  return `speaks ${own}, and the gateway forwards calls of ${type} as they are`;
}

function credentialFinding(path: Path): Finding {
  const message =
    'is not kept by a gateway with pass_through: the credential of a client is meant for one upstream alone';
  return {
    severity: 'error',
    path,
    message,
    hint: 'Leave spec.gateway.pass_through out, or list in spec.gateway.models providers without a fallback.',
    atKey: true,
  };
}
