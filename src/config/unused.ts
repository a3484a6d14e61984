import { isObject } from '../base/json/json.ts';
import type { YamlDocument } from '../base/yaml/document.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { entriesAt, itemsAt, type MappingEntry, valueAt } from '../base/yaml/read.ts';
import { whyProviderRefused } from './build/providers.ts';
import { unusedProviderKeys } from './schema/provider.ts';
import { promptkitVersion, unusedSections } from './schema/schema.ts';

/** A warning for each key that is accepted and not used. */
export function findUnused(document: YamlDocument): Finding[] {
  const reports = [
    ...unusedSections.flatMap((key) => unusedAt(document, ['spec', key])),
    ...unusedAt(document, ['spec', 'logging', 'modules']),
    ...itemsAt(document, ['spec', 'providers']).flatMap((path) => unusedInProvider(document, path)),
    ...entriesAt(document, ['spec', 'tools']).flatMap((tool) => unusedInTool(document, tool)),
    ...entriesAt(document, ['spec', 'hooks']).flatMap((hook) => noteDialect(document, hook)),
  ];
  return reports.map((each) => ({ ...each, atKey: true }));
}

function unusedAt(document: YamlDocument, path: Finding['path']): Finding[] {
  const value = valueAt(document, path);
  return value === undefined || value === null
    ? []
    : [{ severity: 'warning', path, message: 'is accepted and not used' }];
}

function unusedInProvider(document: YamlDocument, path: Finding['path']): Finding[] {
  const refused = whyProviderRefused(document, path);
  const guilty = isObject(valueAt(document, [...path, 'platform'])) ? 'platform' : 'role';
  const message = `is refused when it is used: ${refused}`;
  const warning: Finding = {
    severity: 'warning',
    path: [...path, guilty],
    message: `the provider ${message}`,
  };
  const keys = [...unusedProviderKeys.map((key) => [key]), ['defaults', 'prompt_caching']];
  return [
    ...(refused === undefined ? [] : [warning]),
    ...keys.flatMap((key) => unusedAt(document, [...path, ...key])),
  ];
}

const unusedToolKeys = ['mock_result', 'mock_template', 'mock_parts', 'http', 'client'] as const;

function unusedInTool(document: YamlDocument, { name, path }: MappingEntry): Finding[] {
  const unused = unusedToolKeys.flatMap((key) => unusedAt(document, [...path, key]));
  const ownName = valueAt(document, [...path, 'name']);
  if (typeof ownName === 'string' && ownName !== '' && ownName !== name) {
    unused.push({
      severity: 'warning',
      path: [...path, 'name'],
      message: `is not used: the tool is called ${name}`,
    });
  }
  if (isObject(valueAt(document, [...path, 'exec']))) return unused;
  const hint = 'Add `exec: {command: …}` to make it run.';
  const message = 'has no exec binding: it is listed, and a call of it fails';
  return [{ severity: 'warning', path, message, hint, basis: [...path, 'exec'] }, ...unused];
}

/** PromptKit’s page and its program print different payload keys; a hook that finds none usually allows. */
function noteDialect(document: YamlDocument, { path, value }: MappingEntry): Finding[] {
  if (valueAt(document, ['apiVersion']) !== promptkitVersion || !isObject(value)) return [];
  if (value['hook'] === 'eval' || (value['dialect'] !== undefined && value['dialect'] !== null)) return [];
  return [
    {
      severity: 'note',
      path,
      message: 'names no dialect, so its payload has snake_case keys',
      hint: 'Set `dialect: promptkit-go` if the hook reads keys such as `Messages`, or `dialect: promptkit` to confirm.',
    },
  ];
}
