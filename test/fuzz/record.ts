import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TargetRun } from './run-target.ts';

export interface TargetRecord {
  readonly inputs: number;
  readonly cpuSeconds: number;
  /** Causes that were found and fixed. */
  readonly findings: number;
}

const recordFile = fileURLToPath(new URL('record.json', import.meta.url));
const page = fileURLToPath(new URL('../../docs/internals/fuzzing.md', import.meta.url));

export function readRecord(): Readonly<Record<string, TargetRecord>> {
  return JSON.parse(readFileSync(recordFile, 'utf8'));
}

/** Adds a run to record.json and rewrites the table of docs/internals/fuzzing.md. */
export function addToRecord(name: string, { inputs, cpuSeconds, findings }: TargetRun): void {
  const before = readRecord();
  const known = before[name] ?? { inputs: 0, cpuSeconds: 0, findings: 0 };
  const sum: TargetRecord = {
    inputs: known.inputs + inputs,
    cpuSeconds: Math.round(10 * (known.cpuSeconds + cpuSeconds)) / 10,
    findings: known.findings + findings.length,
  };
  const sorted = Object.entries({ ...before, [name]: sum }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const record = Object.fromEntries(sorted);
  writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`);
  writeFileSync(page, withTable(readFileSync(page, 'utf8'), record));
}

export function withTable(text: string, record: Readonly<Record<string, TargetRecord>>): string {
  const sum = Object.values(record).reduce(
    (total, { inputs, findings }) => ({ inputs: total.inputs + inputs, findings: total.findings + findings }),
    { inputs: 0, findings: 0 },
  );
  const rows = Object.entries(record).map(
    ([name, { inputs, cpuSeconds, findings }]) =>
      `| ${name} | ${group(inputs)} | ${group(Math.round(inputs / cpuSeconds))} | ${findings} |`,
  );
  const table = [
    '| target | inputs | inputs/s | found and mended |',
    '| --- | ---: | ---: | ---: |',
    ...rows,
    `| all | ${group(sum.inputs)} | | ${sum.findings} |`,
  ];
  return text.replace(/\| target \|[\s\S]*?\| all \|[^\n]*/, table.join('\n'));
}

function group(number: number): string {
  return number.toLocaleString('en-US');
}
