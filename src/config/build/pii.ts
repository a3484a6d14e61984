import { basename } from 'node:path';
import { isObject } from '../../base/json/json.ts';
import type { YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { isEntity } from '../../builtins/pii/entity.ts';
import { compileOwnPattern } from '../../builtins/pii/own-pattern.ts';

const section = ['spec', 'pii'];

/** The variables by which `spec.pii` reaches a program, as entries of `env`; none for other programs than signalbox-pii. */
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

/** Patterns that cannot be compiled, and names that are taken. */
export function checkPii(document: YamlDocument): Finding[] {
  const seen = new Set<string>(['LITERAL']);
  return itemsAt(document, [...section, 'patterns']).flatMap((path): Finding[] => {
    const [name, pattern] = [textAt(document, [...path, 'name']), textAt(document, [...path, 'pattern'])];
    const findings: Finding[] = [];
    if (name !== undefined && (isEntity(name) || seen.has(name)))
      findings.push({ path: [...path, 'name'], message: 'is taken', hint: 'Choose another name.' });
    if (name !== undefined) seen.add(name);
    const problem = pattern === undefined ? undefined : problemOf(pattern);
    if (problem !== undefined)
      findings.push({
        path: [...path, 'pattern'],
        message: `cannot be used: ${problem}`,
        hint: 'Write it without lookaround and back references; it runs on an engine whose time is linear.',
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
