import { findDuplicateKey } from '../src/base/json/duplicate-key.ts';
import { endOfContainer } from '../src/base/json/ends.ts';
import { scanElements, scanMembers } from '../src/base/json/scan.ts';
import { JsonTokens } from '../src/base/json/tokens.ts';
import { createStoredTextRedact } from '../src/runtime/log/scrub.ts';
import { newElementScanner } from '../src/suites/dataset/json.ts';

/** Measures the CPU time of each use of the JSON scanner on about 10 MB of text, the best of five runs. */
export async function benchJson(): Promise<string> {
  const list = JSON.stringify(Array.from({ length: 55_000 }, (_, index) => toRow(index)));
  const text = `{"items":${list}}`;
  const bytes = Buffer.from(list);
  const redact = createStoredTextRedact(['a-secret-of-the-bench']);
  const jobs: Readonly<Record<string, () => unknown>> = {
    members: () => scanMembers(text),
    elements: () => scanElements(list),
    'end of a container': () => endOfContainer(text, 0),
    tokens: () => countTokens(text),
    'duplicate keys': () => findDuplicateKey(text),
    'elements in pieces': () => scanPieces(bytes),
    redaction: () => redact(text),
  };
  const lines = Object.entries(jobs).map(([name, job]) => `  ${name.padEnd(20)}${timeOf(job)} ms`);
  return [`JSON scanner, ${(text.length / 1e6).toFixed(1)} MB`, ...lines].join('\n');
}

function toRow(index: number): object {
  const text = `He said "hello" \\ to ${'them '.repeat(10)}`;
  return { id: index, text, tags: ['a', 'b'], nested: { x: index * 1.5, ok: true, none: null } };
}

function countTokens(text: string): number {
  const tokens = new JsonTokens(text);
  let count = 0;
  while (tokens.next()) count += 1;
  return count;
}

function scanPieces(bytes: Buffer): void {
  const scanner = newElementScanner(1_000_000);
  for (let at = 0; at < bytes.length; at += 65_536) scanner.push(bytes.subarray(at, at + 65_536));
  scanner.end();
}

function timeOf(job: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    job();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.round(Math.min(...times));
}
