import { isCredentialName } from '../../base/text/credential-name.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { entriesAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { parseListen } from '../listen.ts';
import { listenPattern } from '../schema/gateway.ts';

const section = ['spec', 'gateway'] as const;

/** What no schema can see about the gateway: providers and hooks that it names and nothing declares. */
export function checkGateway(document: YamlDocument): Finding[] {
  return [
    ...checkListen(document),
    ...checkModels(document),
    ...checkHooks(document),
    ...checkWindow(document),
    ...checkForwarded(document),
  ];
}

function checkListen(document: YamlDocument): Finding[] {
  const path = [...section, 'listen'];
  const listen = nonEmptyTextAt(document, path);
  // The schema says what is wrong with a text of another form.
  if (listen === undefined || !listenForm.test(listen) || parseListen(listen) !== undefined) return [];
  return [{ path, message: `must be HOST:PORT with a port from 0 to 65535 (got: ${listen})` }];
}

const listenForm = new RegExp(listenPattern);

function checkModels(document: YamlDocument): Finding[] {
  const known = itemsAt(document, ['spec', 'providers']).flatMap(
    (item) => nonEmptyTextAt(document, [...item, 'id']) ?? nonEmptyTextAt(document, [...item, 'type']) ?? [],
  );
  return entriesAt(document, [...section, 'models']).flatMap(({ path }): Finding[] => {
    const provider = nonEmptyTextAt(document, [...path, 'provider']);
    if (provider === undefined || known.includes(provider)) return [];
    const message = 'references a provider not declared under spec.providers';
    return [{ path: [...path, 'provider'], message, ...suggest(provider, known) }];
  });
}

function checkHooks(document: YamlDocument): Finding[] {
  // Names of imported hooks are known when the runtime opens; they are checked then.
  if (itemsAt(document, ['spec', 'imports']).length > 0) return [];
  const known = entriesAt(document, ['spec', 'hooks']).map(({ name }) => name);
  const listed = entriesAt(document, [...section, 'hooks']).flatMap(({ path }) => itemsAt(document, path));
  const judged = entriesAt(document, [...section, 'judge']);
  return [
    ...listed.flatMap((path) => checkHook(path, textAt(document, path), known)),
    ...judged.flatMap(({ name, path }) =>
      checkHook(path, name, known).map((finding) => ({ ...finding, atKey: true })),
    ),
  ];
}

function checkHook(path: Path, name: string | undefined, known: readonly string[]): Finding[] {
  if (name === undefined || known.includes(name)) return [];
  return [{ path, message: 'references a hook not declared under spec.hooks', ...suggest(name, known) }];
}

function checkWindow(document: YamlDocument): Finding[] {
  const path = [...section, 'window'];
  if (typeof valueAt(document, path) !== 'number') return [];
  if (textAt(document, [...section, 'stream']) === 'windowed') return [];
  const message = 'is not used: it belongs to stream: windowed';
  return [{ severity: 'warning', path, message, atKey: true }];
}

/** A credential goes upstream by `pass_through` alone, and what belongs to a connection or a body is the gateway's own to say. */
function checkForwarded(document: YamlDocument): Finding[] {
  return itemsAt(document, [...section, 'forward_headers']).flatMap((path): Finding[] => {
    const name = textAt(document, path)?.toLowerCase();
    if (name === undefined) return [];
    if (isCredentialName(name) || credentialHeaders.test(name)) {
      const message = `${name} holds a credential, which is never forwarded like another header`;
      return [{ path, message, hint: 'spec.gateway.pass_through names credentials that clients bring.' }];
    }
    if (!ownHeaders.test(name)) return [];
    return [{ path, message: `${name} belongs to one connection or body, and is the gateway's own` }];
  });
}

/** Beside those that go by the names of credentials everywhere. */
const credentialHeaders =
  /^(?:x-signalbox-.*|.*-?api[-_]?key|.*auth(?:entication|orization)?|.*-(?:jwt|session|signature|assertion))$/;

/** Source: RFC 9110, section 7.6.1, and what the gateway sends itself. */
const ownHeaders =
  /^(?:connection|proxy-.*|keep-alive|te|trailer|transfer-encoding|upgrade|host|expect|via|forwarded|x-forwarded-.*|content-.*|accept-encoding|origin|sec-.*|http2-settings)$/;
