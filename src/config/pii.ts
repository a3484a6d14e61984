import { basename } from 'node:path';
import { isObject } from '../base/json/json.ts';
import type { YamlDocument } from '../base/yaml/document.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { itemsAt, textAt, valueAt } from '../base/yaml/read.ts';
import { isEntity } from '../builtins/pii/entity.ts';
import { checksumNames, compileOwnPattern, ownName } from '../builtins/pii/own-pattern.ts';
import { scanPlaces } from '../builtins/pii/settings.ts';

/** Settings for every signalbox-pii process that the file starts. */
export const piiSchema = {
  type: ['object', 'null'],
  description:
    'Settings of every `signalbox-pii` that this file starts; docs/guides/redact-personal-data.md explains them.',
  additionalProperties: false,
  properties: {
    patterns: {
      type: ['array', 'null'],
      description: 'Your own kinds of personal data, found in addition to those of `--entities`.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'pattern'],
        properties: {
          name: {
            type: 'string',
            pattern: ownName.source,
            description:
              'The name that replaces a value, in brackets; actions use it too. Capitals, digits and `_`.',
          },
          pattern: {
            type: 'string',
            minLength: 1,
            description:
              'A regular expression, of JavaScript without lookaround and back references, or of RE2 (`(?i)` for any case).',
          },
          context: {
            anyOf: [
              { type: 'string', minLength: 1 },
              { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
            ],
            description:
              'Words of which one must appear near a value, in the same line; case does not matter. Default: none is needed.',
          },
          checksum: {
            type: 'string',
            enum: checksumNames,
            description: 'Check digits that a value must have. Default: none.',
          },
        },
      },
    },
    scan: {
      type: ['array', 'null'],
      items: { type: 'string', enum: scanPlaces },
      description:
        'What is searched: texts by their author (tool: results), arguments of tools, definitions of tools, and the rest of a request’s body. Default: everything.',
    },
  },
} as const;

const section = ['spec', 'pii'];

/** `spec.pii` as entries of `env`; empty for programs other than signalbox-pii. */
export function piiVariables(document: YamlDocument, words: readonly string[]): string[] {
  const settings = valueAt(document, section);
  if (!isObject(settings) || !words.some((word) => basename(word) === 'signalbox-pii')) return [];
  const { patterns, scan } = settings;
  return [
    ...(Array.isArray(patterns) && patterns.length > 0
      ? [`SIGNALBOX_PII_PATTERNS=${JSON.stringify(patterns)}`]
      : []),
    ...(Array.isArray(scan) && scan.length > 0 ? [`SIGNALBOX_PII_SCAN=${scan.join(',')}`] : []),
  ];
}

/** Reports patterns that do not compile, and names in use, also by built-in entities. */
export function checkPii(document: YamlDocument): Finding[] {
  const seen = new Set<string>(['LITERAL']);
  return itemsAt(document, [...section, 'patterns']).flatMap((path): Finding[] => {
    const [name, pattern] = [textAt(document, [...path, 'name']), textAt(document, [...path, 'pattern'])];
    const findings: Finding[] = [];
    if (name !== undefined && (isEntity(name) || seen.has(name)))
      findings.push({ path: [...path, 'name'], message: 'is already used', hint: 'Choose another name.' });
    if (name !== undefined) seen.add(name);
    const problem = pattern === undefined ? undefined : problemOf(pattern);
    if (problem !== undefined)
      findings.push({
        path: [...path, 'pattern'],
        message: `cannot be used: ${problem}`,
        hint: 'Remove lookaround and back references: the engine runs in linear time and has neither.',
      });
    return findings;
  });
}

function problemOf(pattern: string): string | undefined {
  try {
    compileOwnPattern(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
