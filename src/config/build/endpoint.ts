import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { readFields } from '../../base/yaml/fields.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { entriesAt, textAt } from '../../base/yaml/read.ts';
import type { EndpointConfig } from '../exec.ts';
import { endpointKeys } from '../hook.ts';

/** Where the native hook at `path` is posted to; undefined where it is a process. */
export function readEndpoint(document: YamlDocument, path: Path): EndpointConfig | undefined {
  const { url, ...endpoint } = readFields(document, path, endpointKeys);
  return url === undefined ? undefined : { url, ...endpoint };
}

/** Addresses and headers of native hooks that HTTP cannot have. */
export function checkEndpoints(document: YamlDocument): Finding[] {
  return entriesAt(document, ['spec', 'hooks']).flatMap(({ path }) => {
    const endpoint = readEndpoint(document, path);
    return endpoint === undefined ? [] : [...checkUrl(endpoint, path), ...checkHeaders(document, path)];
  });
}

function checkUrl({ url, ca }: EndpointConfig, path: Path): Finding[] {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    // The address may hold a secret.
    return [{ severity: 'error', path: [...path, 'url'], message: 'must be an http or https address' }];
  }
  if (ca === undefined || parsed.protocol === 'https:') return [];
  const message = 'is only used with an https address';
  return [{ severity: 'error', path: [...path, 'ca'], message, atKey: true }];
}

function checkHeaders(document: YamlDocument, path: Path): Finding[] {
  return entriesAt(document, [...path, 'headers']).flatMap(({ name, path: place }): Finding[] => {
    if (reserved.has(name.toLowerCase())) {
      return [{ severity: 'error', path: place, message: 'is set by Signalbox itself', atKey: true }];
    }
    try {
      new Headers([[name, textAt(document, place) ?? '']]);
      return [];
    } catch {
      return [{ severity: 'error', path: place, message: 'is no header that HTTP can carry', atKey: true }];
    }
  });
}

const reserved = new Set(['host', 'content-type', 'content-length', 'transfer-encoding', 'connection']);
